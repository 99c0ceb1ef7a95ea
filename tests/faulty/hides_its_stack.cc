// A library with one fault, for tests: create never returns, and blocks all signals. The player,
// the program that calls the library, needs a signal to collect stacks. At the deadline of the
// phase, the verdict must be timed_out, and the report must say that the stack is missing.
#include <signal.h>
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType, char*) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  for (;;) pause();
}
