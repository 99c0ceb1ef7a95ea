/* Lists the isolation mechanisms of a jail, and computes the isolation level from them: "full",
 * "weak" or "none". Also records why mechanisms are missing. Callers store the level with every
 * result, because a result is only as trustworthy as its level of isolation. */
#ifndef KEYDROME_JAIL_ISOLATION_ISOLATION_H_
#define KEYDROME_JAIL_ISOLATION_ISOLATION_H_

#include <stdbool.h>
#include <stdint.h>

enum mechanism {
  MECHANISM_NAMESPACES,   /* mount, PID, network, IPC, UTS and cgroup namespaces */
  MECHANISM_ROOT,         /* a separate read-only root without /proc and /sys */
  MECHANISM_UID,          /* the program has its own user and group, 60000 + the number of --slot */
  MECHANISM_CAPABILITIES, /* the program has no capability and cannot regain one */
  MECHANISM_NO_NEW_PRIVS,
  MECHANISM_RLIMITS,
  MECHANISM_SECCOMP,
  MECHANISM_MEMORY,   /* control group limit on memory and swap */
  MECHANISM_PIDS,     /* control group limit on threads and processes */
  MECHANISM_CPU_TIME, /* the jail can read the CPU time of all processes inside */
  MECHANISM_FREEZE,   /* the jail can stop and continue all processes inside */
  /* The jail can kill all processes inside with cgroup.kill. Without this file, the jail ends the
   * PID namespace, which kills them, too. */
  MECHANISM_KILL,
  MECHANISM_CPUSET,         /* all processes inside are pinned to --cpus */
  MECHANISM_NOSYMFOLLOW,    /* the kernel follows symbolic links only in the library folders */
  MECHANISM_USER_NAMESPACE, /* replaces UID if an ordinary user starts the jail: the program runs
                               as this user, in a user namespace that contains no other user */
  MECHANISM_COUNT
};

enum level { LEVEL_NONE, LEVEL_WEAK, LEVEL_FULL };

/* Returns the bit of a mechanism. A set of mechanisms is a mask of these bits. */
static inline uint32_t mechanism_bit(enum mechanism mechanism) {
  return UINT32_C(1) << (uint32_t)mechanism;
}

/* The first problem with the control groups. */
enum cgroup_trouble {
  TROUBLE_NONE,
  TROUBLE_DISABLED,      /* --without cgroup */
  TROUBLE_NOT_MOUNTED,   /* no hierarchy is mounted */
  TROUBLE_NOT_WRITABLE,  /* the jail could not create a group or write to its files */
  TROUBLE_NOT_READABLE,  /* the jail could not open the parent group or read a file there */
  TROUBLE_EMPTY,         /* a file of the parent group, from which the jail copies, is empty */
  TROUBLE_NO_CONTROLLER, /* the parent group of a v2 hierarchy does not offer a controller */
  TROUBLE_BUSY /* v2: the parent group contains processes, so it cannot enable controllers */
};

struct isolation {
  /* The mechanisms that are in force when the program starts. If the jail fails to set up one of
   * them, it ends with an error and does not start the program. */
  uint32_t mechanisms;
  const char* backend; /* the hierarchies in use: "hybrid", "v1", "v2" or "none" (cgroup.h) */
  enum cgroup_trouble trouble;
  char note[384]; /* why a mechanism is missing, for people: a path and an error; may be empty */
};

/* Returns the level of a set of mechanisms:
 * - full: the program is isolated and has its own user. The memory of all processes inside, and
 *   their number, are limited. The jail can read their CPU time and freeze them.
 * - weak: the program is isolated, but a part of what level full adds is missing.
 * - none: a part of the isolation itself is missing. */
enum level isolation_level(uint32_t mechanisms);

/* Returns the mechanisms that `level` needs in addition to `mechanisms`. */
uint32_t isolation_lacking(uint32_t mechanisms, enum level level);

const char* mechanism_name(enum mechanism mechanism);
const char* level_name(enum level level);

/* Writes the names of `mechanisms`, separated by commas, into `text`. The text is empty if there
 * are none. */
void isolation_list(uint32_t mechanisms, char* text, uint32_t capacity);

/* Returns the mechanisms that a complete jail has and `isolation` lacks. MECHANISM_CPUSET counts
 * only with `wants_cpuset`. MECHANISM_USER_NAMESPACE never counts, because it only replaces
 * MECHANISM_UID. */
uint32_t isolation_missing(const struct isolation* isolation, bool wants_cpuset);

#endif
