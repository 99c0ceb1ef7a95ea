// Sending and receiving whole messages of protocol.h over a SEQPACKET socket.
//
// Thread safety: the socket keeps messages whole, so several threads of the player may send at
// once; one thread receives.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "harness/protocol.h"
#include "harness/unique_fd.h"

namespace keydrome {

inline constexpr size_t kMessageFdsMax = 3;  // GO carries the most: pools, round, outcome

enum class Receive {
  kMessage,    // *message holds what came
  kClosed,     // the peer is gone
  kMalformed,  // a message of another size came
};

// A message of that type with everything else zero.
inline Message make_message(MessageType type) {
  Message message{};
  message.version = kProtocolVersion;
  message.type = type;
  return message;
}

// Whether sending may wait until the other side makes room. The referee never waits for a player.
enum class Send { kWait, kNow };

// Sends `message` with `fds`; never raises SIGPIPE. False when the peer is gone or, with kNow,
// takes nothing now.
bool send_message(int socket, const Message& message, std::span<const int> fds = {},
                  Send how = Send::kWait);

// Waits for one message. Descriptors that come along are handed out in `fds`; without `fds` the
// kernel closes them, so the referee receives none from the jail.
Receive receive_message(int socket, Message& message,
                        std::array<UniqueFd, kMessageFdsMax>* fds = nullptr);

}  // namespace keydrome
