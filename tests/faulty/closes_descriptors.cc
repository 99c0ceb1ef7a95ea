// A library with one fault, for tests: it closes every descriptor of the process, including the
// socket to the referee. The referee is the trusted process outside the jail (the sandbox of the
// library). It must see that the socket is closed, and must not wait for the deadline. The verdict
// must be failed or crashed.
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode openIndex(const char* name, IdxState** idxState) {
  for (int descriptor = 0; descriptor < 256; ++descriptor) close(descriptor);
  return honest::openIndex(name, idxState);
}
