// Fault: create takes no signals and never returns.
// Must be found by: the phase deadline; verdict timed_out, and the report says that there is no
// stack.
#include <signal.h>
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType, char*) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  for (;;) pause();
}
