/* Checks that a jail has left nothing on the machine: no process, no control group, no mount. The
 * kernel removes the jail's processes and mounts when the jail's namespaces end. This check
 * verifies the kernel's work, because a leftover process would disturb later measurements. */
#ifndef KEYDROME_JAIL_LEFTOVERS_FIND_H_
#define KEYDROME_JAIL_LEFTOVERS_FIND_H_

#include <sys/types.h>

#include "jail/options/options.h"

/* The state of the machine before the jail starts. */
struct leftovers_baseline {
  dev_t root_device; /* the device of kMountsPlace, where a jail mounts its root */
};

/* Stores the state of the machine in `baseline`. Call this function before the jail starts. */
void leftovers_note_baseline(struct leftovers_baseline* baseline);

/* Returns the kinds of leftovers ("processes", "groups", "mounts"), separated by commas, or "" if
 * there are none. Writes what is left, and what a person can do about it, into `detail`. Call this
 * function after the jail has ended. `groups_removed` is true if all groups of the jail were
 * removed. */
const char* leftovers_find(const struct leftovers_baseline* baseline, const struct options* options,
                           bool groups_removed, char* detail, size_t capacity);

#endif
