// A library with one fault, for tests: in the middle of a phase, it writes the message DONE, which
// says that the phase is over, to every open descriptor. The message lacks the right nonce, a
// random number of the phase. The referee, which reads the messages, must report the finding
// protocol_violation.
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
