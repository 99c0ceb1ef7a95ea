/* What the jail is made of, and what is missing on this machine: decides the level that results
 * carry. */
#ifndef KEYDROME_JAIL_FACTS_H_
#define KEYDROME_JAIL_FACTS_H_

#include <stdbool.h>
#include <stdint.h>

enum mechanism {
  MECHANISM_NAMESPACES,   /* mount, pid, net, ipc, uts, cgroup */
  MECHANISM_ROOT,         /* a read-only root of its own, without /proc and /sys */
  MECHANISM_UID,          /* a user and group of the pool, which nobody else has */
  MECHANISM_CAPABILITIES, /* none, and none to be had */
  MECHANISM_NO_NEW_PRIVS,
  MECHANISM_RLIMITS,
  MECHANISM_SECCOMP,
  MECHANISM_MEMORY,         /* cgroup limit on memory, swap included */
  MECHANISM_PIDS,           /* cgroup limit on threads and processes */
  MECHANISM_CPU_TIME,       /* CPU time of the whole tree */
  MECHANISM_FREEZE,         /* stop and continue the whole tree */
  MECHANISM_KILL,           /* cgroup.kill; the PID namespace kills the tree in any case */
  MECHANISM_CPUSET,         /* pinned to processors */
  MECHANISM_NOSYMFOLLOW,    /* symbolic links in the writable folder are not followed */
  MECHANISM_USER_NAMESPACE, /* instead of uid: the caller's own user, alone in a user namespace */
  MECHANISM_COUNT
};

enum level { LEVEL_NONE, LEVEL_WEAK, LEVEL_FULL };

/* Sets of mechanisms are bit masks of these. */
static inline uint32_t mechanism_bit(enum mechanism mechanism) {
  return UINT32_C(1) << (uint32_t)mechanism;
}

/* Why control groups, or one of their controllers, are missing: what was met first. */
enum cgroup_trouble {
  TROUBLE_NONE,
  TROUBLE_LEFT_OUT,      /* by --without */
  TROUBLE_NOT_MOUNTED,   /* no hierarchy is to be seen */
  TROUBLE_NOT_WRITABLE,  /* a group cannot be made or written to */
  TROUBLE_NO_CONTROLLER, /* a v2 hierarchy does not offer it here */
  TROUBLE_BUSY /* a v2 group cannot hand it down, since processes are in the group itself */
};

struct facts {
  uint32_t mechanisms; /* in force, or about to be: a failure later ends the jail, it does not
                          weaken it */
  const char* backend; /* "hybrid", "v1", "v2" or "none": where the cgroup limits come from */
  enum cgroup_trouble trouble;
  char note[256]; /* why something is missing, for people; may be empty */
};

/* The level that a set of mechanisms amounts to. Full: all limits hold and CPU time is known; weak:
 * isolated, but limited by rlimits and deadlines only, or without a user of its own; none:
 * something of the isolation itself is left out. */
enum level facts_level(uint32_t mechanisms);

const char* mechanism_name(enum mechanism mechanism);
const char* level_name(enum level level);

/* Writes the names in `mechanisms`, separated by commas, into `text`; empty for none. */
void facts_list(uint32_t mechanisms, char* text, uint32_t capacity);

/* Mechanisms that a complete jail has and `facts` lacks. The cpuset counts only if processors were
 * asked for. */
uint32_t facts_missing(const struct facts* facts, bool wants_cpuset);

#endif
