/* Hostile program, for testing the jail (a sandbox for one program): opens descriptors until the
 * kernel refuses one, then tries to get around the limit. Prints the number of opened descriptors.
 * */
#include <fcntl.h>
#include <sys/resource.h>

#include "jail/tests/hostile/attempt.h"

int main(void) {
  const struct rlimit more = {100000, 100000};
  int opened = 0;
  int last;
  while ((last = open("/dev/null", O_RDONLY)) >= 0 && opened < 100000) {
    opened++;
  }
  refused("one more", last, EMFILE);
  refused("dup2 to a high number", dup2(0, 5000), EBADF);
  refused("F_DUPFD above the limit", fcntl(0, F_DUPFD, 4096), EINVAL);
  refused("raising the limit by setrlimit", setrlimit(RLIMIT_NOFILE, &more), EPERM);
  printf("opened %d\n", opened);
  return attempt_result();
}
