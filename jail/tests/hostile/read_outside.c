/* Hostile program, for testing the jail (a sandbox for one program): tries to open files of the
 * host that must not exist in the jail's root. */
#include <fcntl.h>

#include "jail/tests/hostile/attempt.h"

static void absent(const char* path) { refused(path, open(path, O_RDONLY), ENOENT); }

int main(void) {
  absent("/etc/shadow");
  absent("/etc/passwd");
  absent("/proc/self/mem");
  absent("/proc/1/root/etc/shadow");
  absent("/proc/self/environ");
  absent("/sys/kernel");
  absent("/root");
  absent("/home");
  absent("/tmp");
  absent("/var");
  absent("/run");
  absent("/dev/shm");
  absent("/dev/tty");
  absent("/dev/vda");
  absent("../../../../../etc/shadow");
  refused("chroot", chroot("/work"), EPERM);
  refused("chdir", chdir(".."), EPERM);
  return attempt_result();
}
