/* Hostile program, for testing the jail (a sandbox for one program): tries all ways to start a
 * process, enter a namespace or execute another program. */
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "jail/tests/hostile/attempt.h"

static char* const kNoArguments[] = {"program", NULL};

static void other_programs(void) {
  int program = open("/program", O_RDONLY);
  int memory = memfd_create("copy", 0);
  required("open the program", program >= 0 && memory >= 0);
  refused("execve", execve("/program", kNoArguments, kNoArguments + 1), EPERM);
  refused("execveat", syscall(SYS_execveat, program, "", kNoArguments, NULL, AT_EMPTY_PATH), EPERM);
  refused("memfd", syscall(SYS_execveat, memory, "", kNoArguments, NULL, AT_EMPTY_PATH), EPERM);
  /* The jail's system call filter allows execveat only for descriptor 4096, by which the jail has
   * started this program. This descriptor is closed, and no new descriptor can get its number. */
  refused("its own", syscall(SYS_execveat, 4096, "", kNoArguments, NULL, AT_EMPTY_PATH), EBADF);
  refused("dup to it", dup2(program, 4096), EBADF);
  refused("dup3 to it", dup3(program, 4096, 0), EBADF);
  refused("F_DUPFD to it", fcntl(program, F_DUPFD, 4096), EINVAL);
  struct rlimit more = {8192, 8192};
  refused("prlimit", prlimit(0, RLIMIT_NOFILE, &more, NULL), EPERM);
}

int main(void) {
  struct clone_args fork_like = {.exit_signal = SIGCHLD};
  struct clone_args thread_like = {.flags = CLONE_NEWUSER};
  refused("clone", syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL), EPERM);
  refused("clone vm", syscall(SYS_clone, CLONE_VM | SIGCHLD, NULL, NULL, NULL, NULL), EPERM);
  refused("clone user", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL), EPERM);
  refused("clone3", syscall(SYS_clone3, &fork_like, sizeof fork_like), ENOSYS);
  refused("clone3 user", syscall(SYS_clone3, &thread_like, sizeof thread_like), ENOSYS);
  refused("unshare", unshare(CLONE_NEWUSER), EPERM);
  refused("setns", setns(0, 0), EPERM);
  pid_t child;
  char* none[] = {NULL};
  int error = posix_spawn(&child, "/program", NULL, NULL, kNoArguments, none);
  required("posix_spawn fails", error == EPERM);
  other_programs();
  return attempt_result();
}
