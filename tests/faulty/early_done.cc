// Fault: the constructor plays the whole protocol itself: LOADED, and a DONE with the right nonce
// for every GO, without running a single operation. Must be found by: the outcome, in which nothing
// has happened.
#include <sys/socket.h>
#include <unistd.h>

#include "harness/protocol.h"

namespace {

using keydrome::kControlFd;
using keydrome::Message;
using keydrome::MessageType;

[[gnu::constructor]] void play_the_player() {
  static Message message;
  message.version = keydrome::kProtocolVersion;
  message.type = MessageType::kLoaded;
  while (send(kControlFd, &message, sizeof message, 0) == sizeof message) {
    if (recv(kControlFd, &message, sizeof message, 0) != sizeof message) break;
    if (message.type == MessageType::kEnd) break;
    message.type = MessageType::kDone;
  }
  _exit(0);
}

}  // namespace
