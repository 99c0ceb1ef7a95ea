// A library with one fault, for tests: its constructor pretends to be the player, the process that
// calls the library. It sends the message LOADED to the referee, the process that times and judges.
// To every message GO, which starts a phase, it replies DONE without executing an operation. The
// reply has the right nonce, the random number of GO (harness/protocol.h). The referee must find
// the fault, because the outcome (the memory with all results) stays empty.
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
