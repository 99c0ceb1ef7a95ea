/* Where the hierarchies are mounted, and making and clearing one group. Used by cgroup.c only. */
#ifndef KEYDROME_JAIL_CGROUP_FIND_H_
#define KEYDROME_JAIL_CGROUP_FIND_H_

#include "jail/cgroup.h"

/* Fills in the mount points from /proc/self/mountinfo. */
void cgroup_find_mounts(struct cgroups* cgroups);

/* Makes the group of one hierarchy; one that exists is a left-over and is emptied and replaced.
 * With `lock`, the group's directory is also the lock of the slot. False (errno is set) if the
 * group cannot be made. */
bool cgroup_make(struct cgroups* cgroups, enum hierarchy hierarchy, bool lock);

/* Removes the group of one hierarchy, waiting a while for dying processes. */
bool cgroup_drop(const struct cgroups* cgroups, enum hierarchy hierarchy);

#endif
