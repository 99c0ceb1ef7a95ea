/* Implements jail/options/values.h: parses and checks single values of the jail's options. */
#include "jail/options/values.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "jail/support/die.h"

uint64_t value_number(const char* name, const char* text, uint64_t min, uint64_t max) {
  char* end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  bool starts_right = text[0] >= '0' && text[0] <= '9'; /* strtoull also accepts blanks and signs */
  if (!starts_right || errno || *end || value < min || value > max) {
    die("--%s %s: must be a whole number from %llu to %llu", name, text, (unsigned long long)min,
        (unsigned long long)max);
  }
  return value;
}

int value_descriptor(const char* name, const char* text) {
  int fd = (int)value_number(name, text, 0, 1048576);
  if (fcntl(fd, F_GETFD) < 0) {
    die("--%s %d: the jail has no open descriptor %d; open it in the process that starts the jail, "
        "and let the jail inherit it",
        name, fd, fd);
  }
  return fd;
}

enum level value_level(const char* text) {
  for (int level = LEVEL_NONE; level <= LEVEL_FULL; level++) {
    if (strcmp(text, level_name((enum level)level)) == 0) {
      return (enum level)level;
    }
  }
  die("--require %s: must be full, weak or none", text);
}

enum disabled value_disabled(const char* text) {
  static const char* const names[DISABLED_COUNT] = {
      [DISABLED_CGROUP] = "cgroup",
      [DISABLED_UNIFIED] = "unified",
      [DISABLED_SECCOMP] = "seccomp",
      [DISABLED_NOSYMFOLLOW] = "nosymfollow",
  };
  for (int i = 0; i < DISABLED_COUNT; i++) {
    if (strcmp(text, names[i]) == 0) {
      return (enum disabled)i;
    }
  }
  die("--without %s: must be cgroup, unified, seccomp or nosymfollow", text);
}

struct bind value_bind(char* text) {
  char* colon = strrchr(text, ':');
  if (!colon || colon == text || colon[1] != '/' || colon[2] == '\0') {
    die("--bind %s: must be SOURCE:TARGET, where TARGET is an absolute path other than /", text);
  }
  *colon = '\0';
  const char* target = colon + 1;
  if (strstr(target, "/../") || strstr(target, "//") ||
      (strlen(target) >= 3 && strcmp(target + strlen(target) - 3, "/..") == 0)) {
    die("--bind: the target %s contains .. or two slashes in a row; write the path without them",
        target);
  }
  return (struct bind){.source = text, .target = target};
}

const char* value_group(const char* text) {
  static const char allowed[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-@:\\/";
  bool good = *text && strlen(text) <= kMaxGroup && !text[strspn(text, allowed)];
  if (!good || text[0] == '/' || strstr(text, "..") || text[strlen(text) - 1] == '/') {
    die("--cgroup-parent %s: must be the path of a group relative to the mount point, such as "
        "keydrome.slice: 1 to %d letters, digits and _.-@:\\/, without .. and without / at either "
        "end",
        text, kMaxGroup);
  }
  return text;
}

const char* value_cpus(const char* text) {
  if (!*text || text[strspn(text, "0123456789,-")]) {
    die("--cpus %s: must be a list of processors and ranges, such as 0-1,3", text);
  }
  return text;
}
