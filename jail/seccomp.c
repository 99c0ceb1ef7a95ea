#include "jail/seccomp.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/util.h"
#include "seccomp_filter.inc"

void seccomp_enforce(void) {
  /* The kernel does not write through this pointer; its type is older than const. */
  const struct sock_fprog program = {.len = sizeof kFilter / sizeof *kFilter,
                                     .filter = (struct sock_filter*)kFilter};
  /* Without SPEC_ALLOW older kernels switch off speculative stores for the whole run. */
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) !=
      0) {
    die_errno("cannot load the seccomp filter");
  }
}
