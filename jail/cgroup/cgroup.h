/* The control groups of one jail. They limit memory, processes and processors, account CPU time,
 * and freeze and kill the whole process tree.
 *
 * Each jail has a slot, the number N of its option --slot. For each slot there is one group
 * keydrome-slot-N per hierarchy, directly below the mount point or below --cgroup-parent. The
 * hierarchies that the machine has mounted determine which files set the limits. isolation.backend
 * names the case:
 * - "v1": one hierarchy per controller
 * - "v2": all controllers in the unified hierarchy
 * - "hybrid": v1 controllers, and a v2 hierarchy for CPU time, freezing and killing
 * - "none": no hierarchy is mounted, or none is writable
 * A controller that this machine does not offer is skipped, and struct isolation records this.
 * `python -m tools.guest` tests each backend in an emulated machine. */
#ifndef KEYDROME_JAIL_CGROUP_CGROUP_H_
#define KEYDROME_JAIL_CGROUP_CGROUP_H_

#include <stdbool.h>

#include "jail/command.h"
#include "jail/isolation/isolation.h"
#include "jail/options/options.h"

enum hierarchy {
  HIERARCHY_UNIFIED, /* cgroup v2 */
  HIERARCHY_MEMORY,  /* this and all following: cgroup v1, one hierarchy per controller */
  HIERARCHY_PIDS,
  HIERARCHY_CPUSET,
  HIERARCHY_FREEZER,
  HIERARCHY_CPUACCT,
  HIERARCHY_COUNT
};

enum { kMaxMountPath = 200 };

struct group {
  /* The directory that contains the group: mount point and --cgroup-parent. Empty if the hierarchy
   * is not mounted. */
  char mount[kMaxMountPath + kMaxGroup];
  int directory; /* descriptor of the group; -1: no group */
};

struct cgroups {
  struct group groups[HIERARCHY_COUNT];
  char name[32]; /* keydrome-slot-N */
  int lock;      /* hierarchy whose group directory is the slot's lock; -1: none */
  /* For each purpose, the directory descriptor of the group that serves it. The descriptor is a
   * copy of one in `groups`; -1: no group serves this purpose. */
  int memory;
  int pids;
  int cpuset;
  int cpu_time;
  int freezer;
  bool memory_is_v2;
  bool cpu_time_is_v2;
  bool freezer_is_v2;
  bool has_kill; /* the v2 group has the file cgroup.kill (Linux 5.14) */
};

/* Marks every group as absent. cgroup_remove does nothing in this state. */
void cgroup_init(struct cgroups* cgroups);

/* Locks the slot. Kills the processes and removes the groups that an earlier, killed jail of this
 * slot has left. Makes the groups and sets the limits. Adds the mechanisms in force to `isolation`.
 * Calls die() if a running jail uses the slot, a leftover cannot be removed, or --cpus names a
 * processor that the machine lacks. Then die() calls the clean-up function that main.c has set,
 * which removes the groups made so far. Implemented in create.c. */
void cgroup_create(struct cgroups* cgroups, const struct options* options,
                   struct isolation* isolation);

/* Returns the v2 group in which clone3 starts the child (CLONE_INTO_CGROUP), or -1. */
int cgroup_clone_target(const struct cgroups* cgroups);

/* Moves the calling process, which must be single-threaded, into all v1 groups; clone3 has already
 * started it in the v2 group. Then closes the inherited group descriptors, so that only the parent
 * holds the slot's lock. Ends the process on failure. */
void cgroup_enter(const struct cgroups* cgroups);

/* If `frozen` is true, freezes all threads of the tree and waits until they have stopped. Otherwise
 * thaws them and waits until they may run again. Returns 0 or an errno value, such as ENOTSUP
 * without a freezer, or ETIMEDOUT after two seconds. Implemented in freeze.c. */
int cgroup_freeze(const struct cgroups* cgroups, bool frozen);

/* Sends SIGKILL to every process of the tree, frozen or not, and does not wait. Uses cgroup.kill
 * where it exists. Also kills the jail's init (PID 1) through `init_pidfd`; the kernel then kills
 * every process of init's PID namespace. */
void cgroup_kill(const struct cgroups* cgroups, int init_pidfd);

/* Sets cpu_us, memory_bytes and memory_peak_bytes in `usage` to the values of the tree; UINT64_MAX:
 * unknown. */
void cgroup_usage(const struct cgroups* cgroups, struct keydrome_jail_reply* usage);

/* Returns the CPU time of the tree so far, in microseconds; UINT64_MAX: unknown. */
uint64_t cgroup_cpu_us(const struct cgroups* cgroups);

/* Returns how many processes the kernel has killed because the tree reached its memory limit. */
uint64_t cgroup_oom_kills(const struct cgroups* cgroups);

/* Removes the groups and thereby unlocks the slot. All processes in the groups must be dead or
 * dying; the function waits for them up to five seconds for each group. Returns false, with a
 * message on stderr, if a group cannot be removed. */
bool cgroup_remove(const struct cgroups* cgroups);

#endif
