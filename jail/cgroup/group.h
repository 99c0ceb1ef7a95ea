/* Functions for single control groups: find the mounted hierarchies; make, lock, empty and remove
 * one group. Only the implementation of cgroup.h and leftovers/sweep.c use them. A slot is the
 * number that selects a jail's user and control groups; only one jail at a time may hold it. */
#ifndef KEYDROME_JAIL_CGROUP_GROUP_H_
#define KEYDROME_JAIL_CGROUP_GROUP_H_

#include "jail/cgroup/cgroup.h"

/* Sets cgroups->groups[].mount from /proc/self/mountinfo and appends `parent` unless it is NULL. If
 * a hierarchy is mounted several times, uses the first writable mount, or the first mount if none
 * is writable. */
void cgroup_find_mounts(struct cgroups* cgroups, const char* parent);

/* Makes the group of one hierarchy. An existing group is a leftover of an earlier jail: the
 * function kills its processes, removes it and makes a new group. If `lock` is true, the function
 * also locks the group's directory, which locks the slot. Ends the process with a message if a
 * running jail has locked the slot, or if a leftover cannot be removed. Returns false with errno
 * set if the group cannot be made. */
bool cgroup_make(struct cgroups* cgroups, enum hierarchy hierarchy, bool lock);

/* Tries to lock the slot without making groups for a jail. Creates only the directory that serves
 * as the lock, in the hierarchy `lock`. Returns true if the lock was free; this process then holds
 * the lock until it exits. Otherwise returns false and sets errno: EWOULDBLOCK if a running jail
 * holds the lock, another number if the directory cannot be made or opened. */
bool cgroup_lock_slot(const struct cgroups* cgroups, enum hierarchy lock);

/* Sends SIGKILL to all processes in the slot's leftover groups, frozen or not, and does not wait. A
 * group is a leftover if `cgroups` has no descriptor of it. */
void cgroup_kill_leftovers(const struct cgroups* cgroups);

/* Removes the group of one hierarchy, and waits up to five seconds for dying processes. Returns
 * true if the group no longer exists, otherwise false with errno set. */
bool cgroup_delete(const struct cgroups* cgroups, enum hierarchy hierarchy);

/* Returns what a person can do if the kernel refuses to make or remove a group with `error`. If
 * neither rights nor a read-only mount are the cause, returns `otherwise`. */
const char* cgroup_advice(int error, const char* otherwise);

#endif
