/* Implements jail/isolation/isolation.h: defines the levels full, weak and none by the mechanisms
 * that each level needs. */
#include "jail/isolation/isolation.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char* const kNames[MECHANISM_COUNT] = {
    [MECHANISM_NAMESPACES] = "namespaces",
    [MECHANISM_ROOT] = "root",
    [MECHANISM_UID] = "uid",
    [MECHANISM_CAPABILITIES] = "capabilities",
    [MECHANISM_NO_NEW_PRIVS] = "no_new_privs",
    [MECHANISM_RLIMITS] = "rlimits",
    [MECHANISM_SECCOMP] = "seccomp",
    [MECHANISM_MEMORY] = "memory",
    [MECHANISM_PIDS] = "pids",
    [MECHANISM_CPU_TIME] = "cpu_time",
    [MECHANISM_FREEZE] = "freeze",
    [MECHANISM_KILL] = "kill",
    [MECHANISM_CPUSET] = "cpuset",
    [MECHANISM_NOSYMFOLLOW] = "nosymfollow",
    [MECHANISM_USER_NAMESPACE] = "user_namespace",
};

/* The mechanisms that level weak needs. It also needs at least one of UID and USER_NAMESPACE;
 * isolation_lacking() checks this. */
static const enum mechanism kWeak[] = {MECHANISM_NAMESPACES,   MECHANISM_ROOT,
                                       MECHANISM_CAPABILITIES, MECHANISM_NO_NEW_PRIVS,
                                       MECHANISM_RLIMITS,      MECHANISM_SECCOMP};
/* The mechanisms that level full needs in addition. UID separates the program from the caller's
 * files. MEMORY, PIDS, CPU_TIME and FREEZE limit, measure and stop the whole process tree. Rlimits
 * cannot replace them, because rlimits count per process or per user.
 *
 * The level does not depend on three other mechanisms:
 * - KILL: the end of the PID namespace kills all processes of the jail in any case.
 * - CPUSET: pinning changes measurements, not isolation.
 * - NOSYMFOLLOW: no process outside the jail opens a path inside it. */
static const enum mechanism kFullAlso[] = {MECHANISM_UID, MECHANISM_MEMORY, MECHANISM_PIDS,
                                           MECHANISM_CPU_TIME, MECHANISM_FREEZE};

static uint32_t set_of(const enum mechanism* mechanisms, size_t count) {
  uint32_t set = 0;
  for (size_t i = 0; i < count; i++) {
    set |= mechanism_bit(mechanisms[i]);
  }
  return set;
}

uint32_t isolation_lacking(uint32_t mechanisms, enum level level) {
  uint32_t needed = 0;
  if (level >= LEVEL_WEAK) {
    needed = set_of(kWeak, sizeof kWeak / sizeof *kWeak);
    if (!(mechanisms & mechanism_bit(MECHANISM_USER_NAMESPACE))) {
      needed |= mechanism_bit(MECHANISM_UID);
    }
  }
  if (level == LEVEL_FULL) {
    needed |= set_of(kFullAlso, sizeof kFullAlso / sizeof *kFullAlso);
  }
  return needed & ~mechanisms;
}

enum level isolation_level(uint32_t mechanisms) {
  if (isolation_lacking(mechanisms, LEVEL_WEAK)) {
    return LEVEL_NONE;
  }
  return isolation_lacking(mechanisms, LEVEL_FULL) ? LEVEL_WEAK : LEVEL_FULL;
}

const char* mechanism_name(enum mechanism mechanism) { return kNames[mechanism]; }

const char* level_name(enum level level) {
  static const char* const names[] = {"none", "weak", "full"};
  return names[level];
}

void isolation_list(uint32_t mechanisms, char* text, uint32_t capacity) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < MECHANISM_COUNT; i++) {
    if (mechanisms & mechanism_bit((enum mechanism)i) && used + strlen(kNames[i]) + 2 <= capacity) {
      used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? "," : "", kNames[i]);
    }
  }
}

uint32_t isolation_missing(const struct isolation* isolation, bool wants_cpuset) {
  uint32_t missing = 0;
  for (int i = 0; i < MECHANISM_COUNT; i++) {
    uint32_t bit = mechanism_bit((enum mechanism)i);
    bool counts = i == MECHANISM_CPUSET ? wants_cpuset : i != MECHANISM_USER_NAMESPACE;
    missing |= counts ? bit & ~isolation->mechanisms : 0;
  }
  return missing;
}
