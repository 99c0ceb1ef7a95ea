// Fault: in the middle of a phase, writes DONE, the message that the phase is over, to every open
// descriptor.
// Must be found by: the referee, which reads the messages. The message lacks the right nonce, a
// random number of the phase; finding protocol_violation.
#include <unistd.h>

#include "harness/protocol.h"
#include "tests/faulty/honest.h"

extern "C" ErrCode openIndex(const char* name, IdxState** idxState) {
  keydrome::Message message{};
  message.version = keydrome::kProtocolVersion;
  message.type = keydrome::MessageType::kDone;
  for (int descriptor = 0; descriptor < 256; ++descriptor) {
    if (write(descriptor, &message, sizeof message) < 0) continue;
  }
  return honest::openIndex(name, idxState);
}
