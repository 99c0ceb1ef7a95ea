/* Sends deadly signals to everybody it can name. */
#include <signal.h>

#include "jail/tests/hostile/attempt.h"

int main(void) {
  refused("everybody", kill(-1, SIGKILL), ESRCH);
  refused("another process", kill(3, SIGKILL), ESRCH);
  /* The kernel accepts signals to the init from inside and drops them. */
  kill(1, SIGKILL);
  kill(1, SIGSTOP);
  required("init still there", getppid() == 1 && kill(1, 0) == 0);
  return attempt_result();
}
