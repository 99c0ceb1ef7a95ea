/* Loads the seccomp filter that limits the system calls of the jailed program. filter/generate.c
 * has compiled the filter at build time. */
#include "jail/filter/filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.inc"
#include "jail/support/die.h"

void filter_enforce(void) {
  /* The cast removes const, because struct sock_fprog declares a pointer to mutable data. The
   * kernel only reads the data. */
  const struct sock_fprog program = {.len = sizeof kFilter / sizeof *kFilter,
                                     .filter = (struct sock_filter*)kFilter};
  /* Without SPEC_ALLOW, kernels before 5.16 disable speculative store bypass in a process with a
   * filter, which slows the process down. */
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) !=
      0) {
    die_step("cannot load the system call filter (seccomp)");
  }
}
