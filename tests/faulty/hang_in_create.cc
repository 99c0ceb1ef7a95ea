// Fault: create never returns, and uses no CPU.
// Must be found by: the phase's deadline; verdict timed_out.
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType, char*) {
  for (;;) pause();
}
