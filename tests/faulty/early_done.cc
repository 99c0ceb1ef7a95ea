// Fault: the constructor talks to the referee in place of the player. It sends the message LOADED,
// and replies to every message GO with a DONE that has the right nonce, without executing an
// operation (harness/protocol.h).
// Must be found by: the outcome (the memory with all results), which stays empty.
#include <sys/socket.h>
#include <unistd.h>

#include "harness/protocol.h"

namespace {

using keydrome::kChannelFd;
using keydrome::Message;
using keydrome::MessageType;

[[gnu::constructor]] void play_the_player() {
  static Message message;
  message.version = keydrome::kProtocolVersion;
  message.type = MessageType::kLoaded;
  while (send(kChannelFd, &message, sizeof message, 0) == sizeof message) {
    if (recv(kChannelFd, &message, sizeof message, 0) != sizeof message) break;
    if (message.type == MessageType::kEnd) break;
    message.type = MessageType::kDone;
  }
  _exit(0);
}

}  // namespace
