// Fault: closes every descriptor of the process, the control channel included.
// Must be found by: the closed channel; verdict failed or crashed, never a hang until the deadline.
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode openIndex(const char* name, IdxState** idxState) {
  for (int descriptor = 0; descriptor < 256; ++descriptor) close(descriptor);
  return honest::openIndex(name, idxState);
}
