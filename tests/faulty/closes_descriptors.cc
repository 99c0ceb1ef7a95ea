// Fault: closes every descriptor of the process, including the socket to the referee, the trusted
// process outside the jail.
// Must be found by: the referee, which sees the socket close and does not wait for the deadline;
// verdict failed or crashed.
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode openIndex(const char* name, IdxState** idxState) {
  for (int descriptor = 0; descriptor < 256; ++descriptor) close(descriptor);
  return honest::openIndex(name, idxState);
}
