/* Hostile program, for testing the jail (a sandbox for one program): sends SIGKILL to all processes
 * whose numbers it can guess. */
#include <signal.h>

#include "jail/tests/hostile/attempt.h"

int main(void) {
  refused("all other processes", kill(-1, SIGKILL), ESRCH);
  refused("another process", kill(3, SIGKILL), ESRCH);
  /* Init is process 1 of the jail. The kernel accepts these signals to init from inside its PID
   * namespace, but does not deliver them. */
  kill(1, SIGKILL);
  kill(1, SIGSTOP);
  required("init still runs", getppid() == 1 && kill(1, 0) == 0);
  return attempt_result();
}
