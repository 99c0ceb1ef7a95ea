/* The child inside the jail: builds the jail around itself, becomes its init process (PID 1) and
 * starts the program. */
#ifndef KEYDROME_JAIL_PROCESS_CHILD_H_
#define KEYDROME_JAIL_PROCESS_CHILD_H_

#include "jail/cgroup/cgroup.h"
#include "jail/options/options.h"

/* Descriptors that connect the child with its parent. All are close-on-exec. */
struct child_links {
  /* The child writes struct child_report here. When init is dead, the parent reads end of file. */
  int report;
  /* The child reads one byte here when the network namespace exists, or end of file when the parent
   * is dead. */
  int parent;
  int parent_pidfd; /* refers to the parent, whose network namespace the child enters */
};

/* Runs as PID 1 of the new namespaces. Enters the control groups, builds the root, drops all
 * privileges, starts the program as PID 2 and reaps processes until none is left. Never returns. */
_Noreturn void child_run(const struct options* options, const struct cgroups* cgroups,
                         const struct child_links* links);

#endif
