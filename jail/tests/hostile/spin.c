/* Hostile program, for testing the jail (a sandbox for one program): prints "running", then uses a
 * CPU without end, with all signals blocked. */
#include <signal.h>
#include <unistd.h>

int main(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  if (write(STDOUT_FILENO, "running\n", 8) != 8) {
    return 1;
  }
  for (volatile unsigned long turns = 0;; turns++) {
  }
}
