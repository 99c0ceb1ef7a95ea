// A library with one fault, for tests: create never returns, and uses no CPU. At the deadline of
// the phase, the verdict must be timed_out.
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType, char*) {
  for (;;) pause();
}
