/* Implements jail/privileges/rlimits.h: sets the resource limits of the program, and raises the
 * jail's own limit of open files. */
#include "jail/privileges/rlimits.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/filter/filter.h"
#include "jail/support/die.h"

/* Calls prlimit64 by its number, because glibc and musl declare different types for `resource`. */
static int call_prlimit(int resource, const struct rlimit* wanted, struct rlimit* found) {
  return (int)syscall(SYS_prlimit64, 0, resource, wanted, found);
}

/* Sets the soft and the hard limit. A hard limit that is already lower stays as it is, because an
 * ordinary process cannot raise a hard limit. */
static void set_limit(int resource, const char* name, rlim_t value) {
  struct rlimit limit;
  if (call_prlimit(resource, NULL, &limit) < 0) {
    die_step("cannot read the resource limit RLIMIT_%s (prlimit)", name);
  }
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < value) {
    value = limit.rlim_max;
  }
  limit.rlim_cur = limit.rlim_max = value;
  if (call_prlimit(resource, &limit, NULL) < 0) {
    die_step("cannot set the resource limit RLIMIT_%s to %llu (prlimit)", name,
             (unsigned long long)value);
  }
}

void rlimits_apply(const struct options* options) {
  /* The limit is 1 instead of 0. If core_pattern names a handler program, the kernel starts the
   * handler even with limit 0, but not with limit 1. With limit 1 the kernel also writes no core
   * file, because none fits into one byte. */
  set_limit(RLIMIT_CORE, "CORE", 1);
  set_limit(RLIMIT_MEMLOCK, "MEMLOCK", 0);
  set_limit(RLIMIT_MSGQUEUE, "MSGQUEUE", 0);
  set_limit(RLIMIT_NICE, "NICE", 0);
  set_limit(RLIMIT_RTPRIO, "RTPRIO", 0);
  set_limit(RLIMIT_SIGPENDING, "SIGPENDING", 1024);
  set_limit(RLIMIT_FSIZE, "FSIZE", options->file_bytes);
  set_limit(RLIMIT_STACK, "STACK", options->stack_bytes);
  set_limit(RLIMIT_NOFILE, "NOFILE", options->open_files);
  /* The kernel counts all processes of the user, including the jail's init process (PID 1), so the
   * limit is --processes plus one. A pids controller gets the same limit. */
  set_limit(RLIMIT_NPROC, "NPROC", options->processes + 1);
  if (options->cpu_seconds) {
    /* A fallback for machines on which control groups do not account CPU time. On other machines
     * the jail's parent process, outside the jail, enforces --cpu-seconds. The limit is one second
     * higher, because the kernel counts this CPU time in clock ticks, and may count more time than
     * the program used. */
    set_limit(RLIMIT_CPU, "CPU", options->cpu_seconds + 1);
  }
}

void rlimits_raise_open_files(void) {
  enum { kNeeded = kExecDescriptor + 8 };
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
    die_step("cannot read the limit of open files (getrlimit)");
  }
  const rlim_t allowed = limit.rlim_max;
  if (allowed < kNeeded) {
    limit.rlim_max = kNeeded; /* the kernel's default is 4096; root may raise it */
  }
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) < 0) {
    die("the jail needs a hard limit of at least %d open files, but the limit is %llu: start the "
        "jail as root, or let root add the line `* hard nofile %d` to /etc/security/limits.conf, "
        "and log in again; in a container, set its ulimit nofile",
        kNeeded, (unsigned long long)allowed, kNeeded);
  }
}
