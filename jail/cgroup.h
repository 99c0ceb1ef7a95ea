/* Control groups: limits, CPU time, freezing and killing of the whole tree.
 *
 * One group per slot and hierarchy, keydrome-slot-N, directly below the mount point or below
 * --cgroup-parent. Where the limits live is found out: "hybrid" (v1 controllers plus the core files
 * of a v2 hierarchy), "v1", "v2" (all controllers in v2) or "none". Whatever cannot be had is left
 * out and shows in the facts. Each backend is run by tools/guest. */
#ifndef KEYDROME_JAIL_CGROUP_H_
#define KEYDROME_JAIL_CGROUP_H_

#include <stdbool.h>

#include "jail/command.h"
#include "jail/facts.h"
#include "jail/options.h"

enum hierarchy {
  HIERARCHY_UNIFIED, /* v2 */
  HIERARCHY_MEMORY,  /* the others: v1 */
  HIERARCHY_PIDS,
  HIERARCHY_CPUSET,
  HIERARCHY_FREEZER,
  HIERARCHY_CPUACCT,
  HIERARCHY_COUNT
};

enum { kMaxMountPath = 200 };

struct group {
  char mount[kMaxMountPath + kMaxGroup]; /* below what groups are made; empty: nowhere */
  int directory;                         /* of our group; -1: none */
};

struct cgroups {
  struct group groups[HIERARCHY_COUNT];
  char name[32];
  int lock;   /* the hierarchy whose group holds the slot; -1 without cgroups */
  int memory; /* the directories whose files are used, each one of the above or -1 */
  int pids;
  int cpuset;
  int cpu_time;
  int freezer;
  bool memory_is_v2;
  bool cpu_time_is_v2;
  bool freezer_is_v2;
  bool has_kill;
};

/* No group yet: cgroup_remove is then harmless. */
void cgroup_init(struct cgroups* cgroups);

/* Claims the slot, kills and removes what an earlier jail of the same slot left behind, makes the
 * groups, sets the limits and adds what holds to `facts`. Ends the process if the slot is in use;
 * what was made by then is for cgroup_remove. */
void cgroup_create(struct cgroups* cgroups, const struct options* options, struct facts* facts);

/* The v2 group in which the child is to be born (clone3), or -1. */
int cgroup_birthplace(const struct cgroups* cgroups);

/* Moves the calling process, which must have one thread, into all v1 groups and closes what it has
 * inherited of them: the lock of the slot stays with the parent alone. Ends it on failure. */
void cgroup_enter(const struct cgroups* cgroups);

/* Stops or continues all threads and returns when that is true. 0 or an errno; ETIMEDOUT after two
 * seconds. */
int cgroup_freeze(const struct cgroups* cgroups, bool frozen);

/* Sends SIGKILL to everything inside, frozen or not; also through `init`, whose death empties the
 * PID namespace. */
void cgroup_kill(const struct cgroups* cgroups, int init_pidfd);

/* Fills in the usage of the tree; what is unknown becomes UINT64_MAX. */
void cgroup_usage(const struct cgroups* cgroups, struct keydrome_jail_reply* usage);

/* Processes that the kernel killed because the memory limit was reached. */
uint64_t cgroup_oom_kills(const struct cgroups* cgroups);

/* Removes the groups, which must be empty but for processes that are just dying, and frees the
 * slot. False, with a message on stderr, if a group could not be removed within five seconds. */
bool cgroup_remove(const struct cgroups* cgroups);

#endif
