/* Hostile program, for testing the jail (a sandbox for one program): forks two daemons, each in its
 * own session, and exits while they run. Needs a jail without a seccomp filter. */
#include <signal.h>

#include "jail/tests/hostile/attempt.h"

int main(void) {
  int ready[2];
  char byte;
  if (pipe(ready) < 0) {
    return 1;
  }
  pid_t child = fork();
  if (child < 0) {
    return 1;
  }
  if (child == 0) {
    setsid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    pid_t grandchild = fork();
    if (grandchild == 0) {
      setsid();
      if (write(ready[1], "r", 1) != 1) {
        return 1;
      }
    }
    for (;;) {
      pause();
    }
  }
  return read(ready[0], &byte, 1) == 1 ? 0 : 1;
}
