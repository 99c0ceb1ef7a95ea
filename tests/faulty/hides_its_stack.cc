// Fault: create never returns, and blocks all signals. The player, the program that calls the
// library, needs a signal to collect stacks.
// Must be found by: the phase's deadline; verdict timed_out. The report says that the stack is
// missing.
#include <signal.h>
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType, char*) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  for (;;) pause();
}
