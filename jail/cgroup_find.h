/* Where the hierarchies are mounted, and making and clearing one group. Used by cgroup.c only. */
#ifndef KEYDROME_JAIL_CGROUP_FIND_H_
#define KEYDROME_JAIL_CGROUP_FIND_H_

#include "jail/cgroup.h"

/* Fills in where groups are made: the mount points from /proc/self/mountinfo (of several mounts of
 * one hierarchy the first that can be written to), and `parent` (NULL: nothing) below them. */
void cgroup_find_mounts(struct cgroups* cgroups, const char* parent);

/* Makes the group of one hierarchy; one that exists is a left-over and is emptied and replaced.
 * With `lock`, the group's directory is also the lock of the slot. False (errno is set) if the
 * group cannot be made. */
bool cgroup_make(struct cgroups* cgroups, enum hierarchy hierarchy, bool lock);

/* The slot's lock without making groups for a jail: true, and the slot is ours until the process
 * ends, if no running jail has it. `lock` is the hierarchy that jails lock. */
bool cgroup_claim(const struct cgroups* cgroups, enum hierarchy lock);

/* Kills what is in the groups of the slot that `cgroups` does not hold open, frozen or not. */
void cgroup_sweep(const struct cgroups* cgroups);

/* Removes the group of one hierarchy, waiting a while for dying processes. */
bool cgroup_drop(const struct cgroups* cgroups, enum hierarchy hierarchy);

#endif
