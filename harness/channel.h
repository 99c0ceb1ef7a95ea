// Sends and receives the messages of harness/protocol.h over a SEQPACKET socket.
//
// Three processes use these functions. The referee runs a benchmark session and is trusted. The
// player is the untrusted process in the jail (a sandbox). In verified mode, the driver plays the
// operations outside the jail.
//
// Thread safety: several threads may send on one socket at the same time, because the kernel never
// splits or mixes SEQPACKET messages. Only one thread may receive.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/unique_fd.h"
#include "harness/protocol.h"

namespace keydrome {

inline constexpr size_t kMessageFdsMax = 3;  // the message LOAD carries three; no other has more

enum class Receive {
  kMessage,    // a message was received and stored in `message`
  kClosed,     // the peer closed the socket, exited or sent an empty message
  kMalformed,  // the message has a wrong size or version
};

// Returns a message of this type and of version kProtocolVersion. All other fields are zero.
inline Message make_message(MessageType type) {
  Message message{};
  message.version = kProtocolVersion;
  message.type = type;
  return message;
}

// What send_message() does when the socket is full: kWait blocks, kNow fails. The referee uses
// kNow, so that a player that does not read cannot block the referee.
enum class Send { kWait, kNow };

// Sends `message` together with the descriptors `fds`. Returns false if the peer has closed the
// socket or, with kNow, if the socket is full. Never raises SIGPIPE.
bool send_message(int socket, const Message& message, std::span<const int> fds = {},
                  Send how = Send::kWait);

// Blocks until a message arrives. Stores the received descriptors in `fds`. If `fds` is null, the
// kernel closes received descriptors. The referee passes null when it reads from the jail, so a
// player cannot fill the referee's descriptor table.
Receive receive_message(int socket, Message& message,
                        std::array<UniqueFd, kMessageFdsMax>* fds = nullptr);

}  // namespace keydrome
