/* The parent process, which stays outside the jail: starts the child in new namespaces, watches the
 * deadlines and the command channel, kills the process tree, and records how the program ended. */
#ifndef KEYDROME_JAIL_PROCESS_SUPERVISE_H_
#define KEYDROME_JAIL_PROCESS_SUPERVISE_H_

#include "jail/cgroup/cgroup.h"
#include "jail/options/options.h"

enum outcome_status {
  STATUS_EXITED,
  STATUS_SIGNALED,
  STATUS_TIMED_OUT,     /* reached the deadline of --wall-ms */
  STATUS_CPU_EXCEEDED,  /* reached the limit of --cpu-seconds */
  STATUS_OUT_OF_MEMORY, /* killed by the kernel at the memory limit */
  /* The jail killed the tree: on a command, on a signal to the jail, or because the caller closed
   * the command channel or left it full of unread replies. */
  STATUS_KILLED
};

struct outcome {
  enum outcome_status status;
  int exit_code; /* set for STATUS_EXITED */
  int signal;    /* set for STATUS_SIGNALED, otherwise 0 */
  uint64_t wall_us;
  /* CPU time and memory of the process tree; UINT64_MAX: unknown. The other members of the reply
   * are not set. If control groups do not account CPU time, cpu_us is that of the program alone
   * (rusage). */
  struct keydrome_jail_reply usage;
  uint64_t oom_kills;
  uint32_t processes_left; /* processes that outlived the program and were killed */
};

/* Runs the program until it ends or is killed. On return no process of the jail exists, but its
 * control groups still do. If the jail itself fails, removes the groups and ends the process. */
void supervise(const struct options* options, struct cgroups* cgroups, struct outcome* outcome);

#endif
