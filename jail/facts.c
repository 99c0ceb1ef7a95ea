#include "jail/facts.h"

#include <stdio.h>
#include <string.h>

static const char* const kNames[MECHANISM_COUNT] = {
    [MECHANISM_NAMESPACES] = "namespaces",     [MECHANISM_ROOT] = "root",
    [MECHANISM_UID] = "uid",                   [MECHANISM_CAPABILITIES] = "capabilities",
    [MECHANISM_NO_NEW_PRIVS] = "no_new_privs", [MECHANISM_RLIMITS] = "rlimits",
    [MECHANISM_SECCOMP] = "seccomp",           [MECHANISM_MEMORY] = "memory",
    [MECHANISM_PIDS] = "pids",                 [MECHANISM_CPU_TIME] = "cpu_time",
    [MECHANISM_FREEZE] = "freeze",             [MECHANISM_KILL] = "kill",
    [MECHANISM_CPUSET] = "cpuset",             [MECHANISM_NOSYMFOLLOW] = "nosymfollow",
};

static const uint32_t kWeak = 1u << MECHANISM_NAMESPACES | 1u << MECHANISM_ROOT |
                              1u << MECHANISM_UID | 1u << MECHANISM_CAPABILITIES |
                              1u << MECHANISM_NO_NEW_PRIVS | 1u << MECHANISM_RLIMITS |
                              1u << MECHANISM_SECCOMP;
static const uint32_t kFullAlso = 1u << MECHANISM_MEMORY | 1u << MECHANISM_PIDS |
                                  1u << MECHANISM_CPU_TIME | 1u << MECHANISM_FREEZE;

enum level facts_level(uint32_t mechanisms) {
  if ((mechanisms & kWeak) != kWeak) {
    return LEVEL_NONE;
  }
  return (mechanisms & kFullAlso) == kFullAlso ? LEVEL_FULL : LEVEL_WEAK;
}

const char* mechanism_name(enum mechanism mechanism) { return kNames[mechanism]; }

const char* level_name(enum level level) {
  static const char* const names[] = {"none", "weak", "full"};
  return names[level];
}

void facts_list(uint32_t mechanisms, char* text, uint32_t capacity) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < MECHANISM_COUNT; i++) {
    if (mechanisms & 1u << i && used + strlen(kNames[i]) + 2 <= capacity) {
      used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? "," : "", kNames[i]);
    }
  }
}

uint32_t facts_missing(const struct facts* facts, bool wants_cpuset) {
  uint32_t complete = (1u << MECHANISM_COUNT) - 1;
  if (!wants_cpuset) {
    complete &= ~(1u << MECHANISM_CPUSET);
  }
  return complete & ~facts->mechanisms;
}
