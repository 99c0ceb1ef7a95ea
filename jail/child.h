/* The inside: the child that enters the jail, becomes its init and starts the program. */
#ifndef KEYDROME_JAIL_CHILD_H_
#define KEYDROME_JAIL_CHILD_H_

#include "jail/cgroup.h"
#include "jail/options.h"

/* What the child shares with its parent, all close-on-exec. */
struct child_links {
  int report;       /* struct report goes here; the parent sees end of file when init is dead */
  int parent;       /* one byte: the network namespace is there; end of file: the parent is dead */
  int parent_pidfd; /* names the parent, whose network namespace the child enters */
};

/* Runs in the new namespaces as process 1. Enters the limits, sets up the inside, drops all
 * privileges, starts the program as process 2, and reaps until nothing is left. Never returns. */
_Noreturn void child_run(const struct options* options, const struct cgroups* cgroups,
                         const struct child_links* links);

#endif
