#include "jail/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jail/cgroup_find.h"
#include "jail/util.h"

enum { kFreezeTimeoutUs = 2000000, kFreezeSoonUs = 2000 };

static void add(struct facts* facts, enum mechanism mechanism) {
  facts->mechanisms |= mechanism_bit(mechanism);
}

/* Keeps the first reason why something is missing. */
static void note(struct facts* facts, const char* what, int error) {
  if (!facts->note[0]) {
    snprintf(facts->note, sizeof facts->note, "%s: %s", what, strerror(error));
    facts->trouble = error == EBUSY ? TROUBLE_BUSY : TROUBLE_NOT_WRITABLE;
  }
}

/* Makes the group of a hierarchy that is mounted; the first that is made is the slot's lock. */
static bool make(struct cgroups* cgroups, enum hierarchy hierarchy, struct facts* facts) {
  struct group* group = &cgroups->groups[hierarchy];
  if (!group->mount[0]) {
    return false;
  }
  for (int other = 0; other < HIERARCHY_COUNT; other++) {
    /* Controllers can share one hierarchy; then they share the group. */
    if (cgroups->groups[other].directory >= 0 &&
        strcmp(cgroups->groups[other].mount, group->mount) == 0) {
      group->directory = cgroups->groups[other].directory;
      return true;
    }
  }
  if (!cgroup_make(cgroups, hierarchy, cgroups->lock < 0)) {
    note(facts, group->mount, errno);
    return false;
  }
  if (cgroups->lock < 0) {
    cgroups->lock = (int)hierarchy;
  }
  return true;
}

static bool set_text(int directory, const char* name, const char* text, struct facts* facts) {
  int error = write_file_at(directory, name, text);
  if (error) {
    note(facts, name, error);
  }
  return error == 0;
}

static bool set_number(int directory, const char* name, uint64_t number, struct facts* facts) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)number);
  return set_text(directory, name, text, facts);
}

/* True if the file `name`, a line of words, holds `word`. */
static bool lists(int directory, const char* name, const char* word) {
  char words[256];
  if (read_file_at(directory, name, words, sizeof words) <= 0) {
    return false;
  }
  char* rest = words;
  for (char* each; (each = strtok_r(rest, " \n", &rest));) {
    if (strcmp(each, word) == 0) {
      return true;
    }
  }
  return false;
}

/* A v2 hierarchy hands a controller to our group only if its parent lets it; asks for that. */
static bool enable_v2(const struct cgroups* cgroups, const char* controller, struct facts* facts) {
  const struct group* group = &cgroups->groups[HIERARCHY_UNIFIED];
  int parent = openat(group->directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) {
    return false;
  }
  bool enabled = lists(parent, "cgroup.subtree_control", controller);
  if (!enabled && lists(parent, "cgroup.controllers", controller)) {
    char request[32];
    snprintf(request, sizeof request, "+%s", controller);
    enabled = set_text(parent, "cgroup.subtree_control", request, facts);
  } else if (!enabled && facts->trouble == TROUBLE_NONE) {
    facts->trouble = TROUBLE_NO_CONTROLLER;
  }
  close(parent);
  return enabled;
}

static void set_up_memory(struct cgroups* cgroups, const struct options* options,
                          struct facts* facts) {
  const struct group* unified = &cgroups->groups[HIERARCHY_UNIFIED];
  bool limited = false;
  if (cgroups->groups[HIERARCHY_MEMORY].directory >= 0) {
    int directory = cgroups->groups[HIERARCHY_MEMORY].directory;
    limited = set_number(directory, "memory.limit_in_bytes", options->memory_bytes, facts);
    /* Absent where the kernel does not account swap; then there is no swap to limit by it. */
    int error = write_number_at(directory, "memory.memsw.limit_in_bytes", options->memory_bytes);
    limited = limited && (error == 0 || error == ENOENT);
    cgroups->memory = directory;
  } else if (unified->directory >= 0 && enable_v2(cgroups, "memory", facts)) {
    limited = set_number(unified->directory, "memory.max", options->memory_bytes, facts);
    int error = write_number_at(unified->directory, "memory.swap.max", 0);
    limited = limited && (error == 0 || error == ENOENT) &&
              set_text(unified->directory, "memory.oom.group", "1", facts);
    cgroups->memory = unified->directory;
    cgroups->memory_is_v2 = true;
  }
  if (limited) {
    add(facts, MECHANISM_MEMORY);
  }
}

static void set_up_pids(struct cgroups* cgroups, const struct options* options,
                        struct facts* facts) {
  if (make(cgroups, HIERARCHY_PIDS, facts)) {
    cgroups->pids = cgroups->groups[HIERARCHY_PIDS].directory;
  } else if (cgroups->groups[HIERARCHY_UNIFIED].directory >= 0 &&
             enable_v2(cgroups, "pids", facts)) {
    cgroups->pids = cgroups->groups[HIERARCHY_UNIFIED].directory;
  }
  /* One more for the init of the jail. */
  if (cgroups->pids >= 0 && set_number(cgroups->pids, "pids.max", options->processes + 1, facts)) {
    add(facts, MECHANISM_PIDS);
  }
}

/* A v1 cpuset refuses processors that are not there; v2 takes any and gives what there is. Both
 * files are in the kernel's own notation. */
static bool gets_all_processors(const struct cgroups* cgroups) {
  char asked[256];
  char given[256];
  return cgroups->cpuset != cgroups->groups[HIERARCHY_UNIFIED].directory ||
         (read_file_at(cgroups->cpuset, "cpuset.cpus", asked, sizeof asked) > 0 &&
          read_file_at(cgroups->cpuset, "cpuset.cpus.effective", given, sizeof given) > 0 &&
          strcmp(asked, given) == 0);
}

static void set_up_cpuset(struct cgroups* cgroups, const struct options* options,
                          struct facts* facts) {
  if (!options->cpus) {
    return;
  }
  bool ready = false;
  if (make(cgroups, HIERARCHY_CPUSET, facts)) {
    /* A v1 cpuset is born empty: memory nodes are copied from the root before a process may enter.
     */
    int directory = cgroups->groups[HIERARCHY_CPUSET].directory;
    char nodes[256];
    ready = read_file_at(directory, "../cpuset.mems", nodes, sizeof nodes) > 0 &&
            set_text(directory, "cpuset.mems", nodes, facts);
    cgroups->cpuset = directory;
  } else if (cgroups->groups[HIERARCHY_UNIFIED].directory >= 0 &&
             enable_v2(cgroups, "cpuset", facts)) {
    ready = true;
    cgroups->cpuset = cgroups->groups[HIERARCHY_UNIFIED].directory;
  }
  if (!ready) {
    return;
  }
  int error = write_file_at(cgroups->cpuset, "cpuset.cpus", options->cpus);
  if (error == 0 && !gets_all_processors(cgroups)) {
    error = EINVAL;
  }
  if (error == EINVAL || error == EACCES || error == ERANGE) {
    die("--cpus %s: these processors are not all there (%s)", options->cpus, strerror(error));
  }
  if (error == 0) {
    add(facts, MECHANISM_CPUSET);
  }
}

/* CPU time, freezing, killing: core files of v2 if there is a v2 hierarchy, else v1 controllers. */
static void set_up_control(struct cgroups* cgroups, struct facts* facts) {
  int unified = cgroups->groups[HIERARCHY_UNIFIED].directory;
  uint64_t unused;
  if (unified >= 0 && read_keyed_number_at(unified, "cpu.stat", "usage_usec", &unused)) {
    cgroups->cpu_time = unified;
    cgroups->cpu_time_is_v2 = true;
  } else if (make(cgroups, HIERARCHY_CPUACCT, facts)) {
    cgroups->cpu_time = cgroups->groups[HIERARCHY_CPUACCT].directory;
  }
  if (unified >= 0 && faccessat(unified, "cgroup.freeze", W_OK, 0) == 0) {
    cgroups->freezer = unified;
    cgroups->freezer_is_v2 = true;
  } else if (make(cgroups, HIERARCHY_FREEZER, facts)) {
    cgroups->freezer = cgroups->groups[HIERARCHY_FREEZER].directory;
  }
  cgroups->has_kill = unified >= 0 && faccessat(unified, "cgroup.kill", W_OK, 0) == 0;
  if (cgroups->cpu_time >= 0) {
    add(facts, MECHANISM_CPU_TIME);
  }
  if (cgroups->freezer >= 0) {
    add(facts, MECHANISM_FREEZE);
  }
  if (cgroups->has_kill) {
    add(facts, MECHANISM_KILL);
  }
}

void cgroup_init(struct cgroups* cgroups) {
  memset(cgroups, 0, sizeof *cgroups);
  for (int i = 0; i < HIERARCHY_COUNT; i++) {
    cgroups->groups[i].directory = -1;
  }
  cgroups->lock = cgroups->memory = cgroups->pids = -1;
  cgroups->cpuset = cgroups->cpu_time = cgroups->freezer = -1;
}

void cgroup_create(struct cgroups* cgroups, const struct options* options, struct facts* facts) {
  snprintf(cgroups->name, sizeof cgroups->name, "keydrome-slot-%d", options->slot);
  facts->backend = "none";
  if (options_without(options, WITHOUT_CGROUP)) {
    facts->trouble = TROUBLE_LEFT_OUT;
    return;
  }
  cgroup_find_mounts(cgroups, options->cgroup_parent);
  if (options_without(options, WITHOUT_UNIFIED)) {
    cgroups->groups[HIERARCHY_UNIFIED].mount[0] = '\0';
  }
  make(cgroups, HIERARCHY_MEMORY, facts);
  make(cgroups, HIERARCHY_UNIFIED, facts);
  set_up_memory(cgroups, options, facts);
  set_up_pids(cgroups, options, facts);
  set_up_cpuset(cgroups, options, facts);
  set_up_control(cgroups, facts);
  if (cgroups->lock >= 0) {
    bool has_unified = cgroups->groups[HIERARCHY_UNIFIED].directory >= 0;
    bool has_v1 = false;
    for (int i = HIERARCHY_UNIFIED + 1; i < HIERARCHY_COUNT; i++) {
      has_v1 = has_v1 || cgroups->groups[i].directory >= 0;
    }
    facts->backend = !has_unified ? "v1" : has_v1 ? "hybrid" : "v2";
  } else if (facts->trouble == TROUBLE_NONE) {
    facts->trouble = TROUBLE_NOT_MOUNTED;
  }
}

int cgroup_birthplace(const struct cgroups* cgroups) {
  return cgroups->groups[HIERARCHY_UNIFIED].directory;
}

void cgroup_enter(const struct cgroups* cgroups) {
  for (int i = HIERARCHY_UNIFIED + 1; i < HIERARCHY_COUNT; i++) {
    int directory = cgroups->groups[i].directory;
    if (directory < 0) {
      continue;
    }
    /* A thread that moves itself alone takes no lock that waits for all processors: cgroup.procs,
     * or moving the child from outside, costs some milliseconds instead of microseconds. */
    int error = write_file_at(directory, "tasks", "0");
    if (error) {
      errno = error;
      die_errno("cannot enter the cgroup below %s", cgroups->groups[i].mount);
    }
  }
  for (int i = 0; i < HIERARCHY_COUNT; i++) {
    if (cgroups->groups[i].directory >= 0) {
      close(cgroups->groups[i].directory);
    }
  }
}

static bool is_frozen_v1(const struct cgroups* cgroups, bool frozen) {
  char state[32];
  return read_file_at(cgroups->freezer, "freezer.state", state, sizeof state) > 0 &&
         strncmp(state, frozen ? "FROZEN" : "THAWED", 6) == 0;
}

static bool is_frozen_v2(const struct cgroups* cgroups, bool frozen) {
  uint64_t now_frozen;
  return read_keyed_number_at(cgroups->freezer, "cgroup.events", "frozen", &now_frozen) &&
         now_frozen == (frozen ? 1 : 0);
}

static int write_frozen(const struct cgroups* cgroups, bool frozen) {
  return cgroups->freezer_is_v2
             ? write_file_at(cgroups->freezer, "cgroup.freeze", frozen ? "1" : "0")
             : write_file_at(cgroups->freezer, "freezer.state", frozen ? "FROZEN" : "THAWED");
}

/* Waits until the state is reached. Most often that takes less than a tenth of a millisecond, so at
 * first it is asked for again and again: the events file of v2, which raises POLLPRI, does so at
 * most every 10 ms (kernel/cgroup: CGROUP_FILE_NOTIFY_MIN_INTV), and v1 has none. A v1 group can
 * stay FREEZING for ever when one of its processes was just being started; writing the state once
 * more is what the kernel's documentation advises (cgroup-v1/freezer-subsystem). */
static int wait_until_frozen(const struct cgroups* cgroups, bool frozen) {
  const uint64_t started = now_us();
  const struct timespec moment = {.tv_nsec = 20000};
  struct pollfd events = {.fd = -1, .events = POLLPRI};
  if (cgroups->freezer_is_v2) {
    events.fd = openat(cgroups->freezer, "cgroup.events", O_RDONLY | O_CLOEXEC);
  }
  int error = 0;
  while (
      !(cgroups->freezer_is_v2 ? is_frozen_v2(cgroups, frozen) : is_frozen_v1(cgroups, frozen))) {
    const uint64_t waited = now_us() - started;
    if (waited > kFreezeTimeoutUs) {
      error = ETIMEDOUT;
      break;
    }
    if (waited < kFreezeSoonUs) {
      nanosleep(&moment, NULL);
      continue;
    }
    poll(&events, 1, 1);
    if (!cgroups->freezer_is_v2) {
      write_frozen(cgroups, frozen);
    }
  }
  if (events.fd >= 0) {
    close(events.fd);
  }
  return error;
}

int cgroup_freeze(const struct cgroups* cgroups, bool frozen) {
  if (cgroups->freezer < 0) {
    return ENOTSUP;
  }
  int error = write_frozen(cgroups, frozen);
  return error ? error : wait_until_frozen(cgroups, frozen);
}

void cgroup_kill(const struct cgroups* cgroups, int init_pidfd) {
  if (cgroups->has_kill) {
    write_file_at(cgroups->groups[HIERARCHY_UNIFIED].directory, "cgroup.kill", "1");
  }
  syscall(SYS_pidfd_send_signal, init_pidfd, SIGKILL, NULL, 0);
  if (cgroups->freezer >= 0 && !cgroups->freezer_is_v2) {
    /* What a v1 freezer holds does not even die. */
    write_file_at(cgroups->freezer, "freezer.state", "THAWED");
  }
}

static uint64_t number_or_unknown(int directory, const char* name) {
  uint64_t number;
  return directory >= 0 && read_number_at(directory, name, &number) ? number : UINT64_MAX;
}

void cgroup_usage(const struct cgroups* cgroups, struct keydrome_jail_reply* usage) {
  bool v2 = cgroups->memory_is_v2;
  usage->memory_bytes =
      number_or_unknown(cgroups->memory, v2 ? "memory.current" : "memory.usage_in_bytes");
  usage->memory_peak_bytes =
      number_or_unknown(cgroups->memory, v2 ? "memory.peak" : "memory.max_usage_in_bytes");
  usage->cpu_us = UINT64_MAX;
  if (cgroups->cpu_time < 0) {
    return;
  }
  uint64_t time;
  if (!cgroups->cpu_time_is_v2) {
    time = number_or_unknown(cgroups->cpu_time, "cpuacct.usage");
    usage->cpu_us = time == UINT64_MAX ? time : time / 1000;
  } else if (read_keyed_number_at(cgroups->cpu_time, "cpu.stat", "usage_usec", &time)) {
    usage->cpu_us = time;
  }
}

uint64_t cgroup_oom_kills(const struct cgroups* cgroups) {
  uint64_t kills = 0;
  if (cgroups->memory >= 0) {
    read_keyed_number_at(cgroups->memory,
                         cgroups->memory_is_v2 ? "memory.events" : "memory.oom_control", "oom_kill",
                         &kills);
  }
  return kills;
}

static bool remove_one(const struct cgroups* cgroups, enum hierarchy hierarchy) {
  const struct group* group = &cgroups->groups[hierarchy];
  if (group->directory < 0 || cgroup_drop(cgroups, hierarchy)) {
    return true;
  }
  dprintf(STDERR_FILENO, "jail: %s/%s could not be removed: %s\n", group->mount, cgroups->name,
          strerror(errno));
  return false;
}

bool cgroup_remove(const struct cgroups* cgroups) {
  bool removed = true;
  /* The lock last: with it gone, the next jail of this slot may make groups of the same names. */
  for (int i = 0; i < HIERARCHY_COUNT; i++) {
    if (i != cgroups->lock) {
      removed = remove_one(cgroups, (enum hierarchy)i) && removed;
    }
  }
  return cgroups->lock < 0 || (remove_one(cgroups, (enum hierarchy)cgroups->lock) && removed);
}
