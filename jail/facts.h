/* What the jail is made of, and what is missing on this machine: decides the level that results
 * carry. */
#ifndef KEYDROME_JAIL_FACTS_H_
#define KEYDROME_JAIL_FACTS_H_

#include <stdbool.h>
#include <stdint.h>

enum mechanism {
  MECHANISM_NAMESPACES,   /* mount, pid, net, ipc, uts, cgroup */
  MECHANISM_ROOT,         /* pivot_root onto a read-only root without /proc and /sys */
  MECHANISM_UID,          /* a user and group of its own */
  MECHANISM_CAPABILITIES, /* none, and none to be had */
  MECHANISM_NO_NEW_PRIVS,
  MECHANISM_RLIMITS,
  MECHANISM_SECCOMP,
  MECHANISM_MEMORY,      /* cgroup limit on memory, swap included */
  MECHANISM_PIDS,        /* cgroup limit on threads and processes */
  MECHANISM_CPU_TIME,    /* CPU time of the whole tree */
  MECHANISM_FREEZE,      /* stop and continue the whole tree */
  MECHANISM_KILL,        /* cgroup.kill; the PID namespace kills the tree in any case */
  MECHANISM_CPUSET,      /* pinned to processors */
  MECHANISM_NOSYMFOLLOW, /* symbolic links in the writable folder are not followed */
  MECHANISM_COUNT
};

enum level { LEVEL_NONE, LEVEL_WEAK, LEVEL_FULL };

/* Sets of mechanisms are bit masks of these. */
static inline uint32_t mechanism_bit(enum mechanism mechanism) {
  return UINT32_C(1) << (uint32_t)mechanism;
}

struct facts {
  uint32_t mechanisms; /* in force, or about to be: a failure later ends the jail, it does not
                          weaken it */
  const char* backend; /* "hybrid", "v1", "v2" or "none": where the cgroup limits come from */
  char note[256];      /* why something is missing, for people; may be empty */
};

/* The level that a set of mechanisms amounts to. Full: all limits hold and CPU time is known; weak:
 * isolated, but limited by rlimits and deadlines only; none: something of the isolation itself is
 * left out. */
enum level facts_level(uint32_t mechanisms);

const char* mechanism_name(enum mechanism mechanism);
const char* level_name(enum level level);

/* Writes the names in `mechanisms`, separated by commas, into `text`; empty for none. */
void facts_list(uint32_t mechanisms, char* text, uint32_t capacity);

/* Mechanisms that a complete jail has and `facts` lacks. The cpuset counts only if processors were
 * asked for. */
uint32_t facts_missing(const struct facts* facts, bool wants_cpuset);

#endif
