// Numbers of the descriptors that a jail process (the program that makes the sandbox of the
// library) receives from the referee, which starts it. The jail process also receives 0, 1, 2 and
// kChannelFd (harness/protocol.h).
#pragma once

namespace keydrome {

inline constexpr int kCommandFd = 4;  // socket: commands to the jail (jail/command.h)
inline constexpr int kMetaFd = 5;     // pipe: how the jail ended (jail_end.h)

}  // namespace keydrome
