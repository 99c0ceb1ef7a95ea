/* The outside: starts the child in its namespaces, watches deadlines and commands, kills the tree,
 * tells the outcome. */
#ifndef KEYDROME_JAIL_SUPERVISE_H_
#define KEYDROME_JAIL_SUPERVISE_H_

#include "jail/cgroup.h"
#include "jail/options.h"

enum outcome_status {
  STATUS_EXITED,
  STATUS_SIGNALED,
  STATUS_TIMED_OUT,     /* wall deadline */
  STATUS_CPU_EXCEEDED,  /* CPU deadline */
  STATUS_OUT_OF_MEMORY, /* killed by the kernel at the memory limit */
  STATUS_KILLED /* by a command, by a signal to the jail, or because the supervisor vanished */
};

struct outcome {
  enum outcome_status status;
  int exit_code; /* STATUS_EXITED */
  int signal;    /* STATUS_SIGNALED, else 0 */
  uint64_t wall_us;
  struct keydrome_jail_reply
      usage; /* CPU time falls back to the program's rusage; UINT64_MAX: unknown */
  uint64_t oom_kills;
  uint32_t processes_left;
};

/* Runs the program to its end, whatever way that comes. When it returns, no process of the jail is
 * left and the groups are still there. Ends the process, groups removed, if the jail itself failed.
 */
void supervise(const struct options* options, struct cgroups* cgroups, struct outcome* outcome);

#endif
