/* Hostile program, for testing the jail (a sandbox for one program): tries to read or control
 * another process, the jail's init, which has the same user. */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "jail/tests/hostile/attempt.h"

int main(void) {
  char buffer[8] = "";
  struct iovec here = {buffer, sizeof buffer};
  struct iovec there = {buffer, sizeof buffer};
  refused("attach", ptrace(PTRACE_ATTACH, 1, NULL, NULL), EPERM);
  refused("seize", ptrace(PTRACE_SEIZE, 1, NULL, NULL), EPERM);
  refused("traceme", ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM);
  refused("readv", process_vm_readv(1, &here, 1, &there, 1, 0), EPERM);
  refused("writev", process_vm_writev(1, &here, 1, &there, 1, 0), EPERM);
  refused("pidfd_open", syscall(SYS_pidfd_open, 1, 0), EPERM);
  refused("pidfd_getfd", syscall(SYS_pidfd_getfd, 0, 0, 0), EPERM);
  refused("kcmp", syscall(SYS_kcmp, 1, getpid(), 0, 0, 0), EPERM);
  return attempt_result();
}
