/* Implements cgroup_create() of cgroup.h: makes the control groups of a jail, sets their limits,
 * and records which isolation mechanisms work on this machine. The groups are named after the
 * jail's slot, a number that only one running jail may hold. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/cgroup/cgroup.h"
#include "jail/cgroup/group.h"
#include "jail/support/die.h"
#include "jail/support/files.h"

/* Records that a mechanism is in force. */
static void add(struct isolation* isolation, enum mechanism mechanism) {
  isolation->mechanisms |= mechanism_bit(mechanism);
}

/* Records why a mechanism is missing: the file or directory, and the error. Keeps only the first
 * reason, because later errors usually follow from the first one. */
static void note_trouble(struct isolation* isolation, const char* what, int error,
                         enum cgroup_trouble trouble) {
  if (!isolation->note[0]) {
    snprintf(isolation->note, sizeof isolation->note, "%s: %s", what, strerror(error));
    isolation->trouble = trouble;
  }
}

static void note(struct isolation* isolation, const char* what, int error) {
  note_trouble(isolation, what, error, error == EBUSY ? TROUBLE_BUSY : TROUBLE_NOT_WRITABLE);
}

/* Records that the jail could not write to the file `name` of the open folder `directory`. */
static void note_file(struct isolation* isolation, int directory, const char* name, int error) {
  char link[32];
  char path[kMaxMountPath + kMaxGroup];
  char file[sizeof path + 40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  snprintf(file, sizeof file, "%s%s%s", path, length > 0 ? "/" : "", name);
  note(isolation, file, error);
}

/* Makes the group of a hierarchy. The directory of the first group also serves as the slot's lock.
 * Returns false if the hierarchy is not mounted, or if the group cannot be made. In the second
 * case, also notes the error in `isolation`. */
static bool make(struct cgroups* cgroups, enum hierarchy hierarchy, struct isolation* isolation) {
  struct group* group = &cgroups->groups[hierarchy];
  if (!group->mount[0]) {
    return false;
  }
  for (int other = 0; other < HIERARCHY_COUNT; other++) {
    /* Several v1 controllers can be mounted as one hierarchy; they then share the group. */
    if (cgroups->groups[other].directory >= 0 &&
        strcmp(cgroups->groups[other].mount, group->mount) == 0) {
      group->directory = cgroups->groups[other].directory;
      return true;
    }
  }
  if (!cgroup_make(cgroups, hierarchy, cgroups->lock < 0)) {
    note(isolation, group->mount, errno);
    return false;
  }
  if (cgroups->lock < 0) {
    cgroups->lock = (int)hierarchy;
  }
  return true;
}

static bool set_text(int directory, const char* name, const char* text,
                     struct isolation* isolation) {
  int error = write_file_at(directory, name, text);
  if (error) {
    note_file(isolation, directory, name, error);
  }
  return error == 0;
}

static bool set_number(int directory, const char* name, uint64_t number,
                       struct isolation* isolation) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)number);
  return set_text(directory, name, text, isolation);
}

/* Limits the swap. Returns true if swap is limited. Also returns true if the kernel does not
 * account swap, in which case the file does not exist. */
static bool limit_swap(int directory, const char* name, uint64_t bytes,
                       struct isolation* isolation) {
  int error = write_number_at(directory, name, bytes);
  if (error && error != ENOENT) {
    note_file(isolation, directory, name, error);
  }
  return error == 0 || error == ENOENT;
}

/* Returns true if `word` is one of the words in the file `name`, which contains a single line. */
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

/* Enables a v2 controller for the jail's group by writing the controller's name to
 * cgroup.subtree_control of the parent group. Returns false if the parent cannot be opened or
 * does not offer the controller, or if the write fails. Then records the cause in `isolation`. */
static bool enable_v2(const struct cgroups* cgroups, const char* controller,
                      struct isolation* isolation) {
  const struct group* group = &cgroups->groups[HIERARCHY_UNIFIED];
  int parent = openat(group->directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) {
    note_trouble(isolation, group->mount, errno, TROUBLE_NOT_READABLE);
    return false;
  }
  bool enabled = lists(parent, "cgroup.subtree_control", controller);
  if (!enabled && lists(parent, "cgroup.controllers", controller)) {
    char request[32];
    snprintf(request, sizeof request, "+%s", controller);
    enabled = set_text(parent, "cgroup.subtree_control", request, isolation);
  } else if (!enabled && isolation->trouble == TROUBLE_NONE) {
    isolation->trouble = TROUBLE_NO_CONTROLLER;
  }
  close(parent);
  return enabled;
}

static void set_up_memory(struct cgroups* cgroups, const struct options* options,
                          struct isolation* isolation) {
  const struct group* unified = &cgroups->groups[HIERARCHY_UNIFIED];
  bool limited = false;
  if (cgroups->groups[HIERARCHY_MEMORY].directory >= 0) {
    int directory = cgroups->groups[HIERARCHY_MEMORY].directory;
    limited =
        set_number(directory, "memory.limit_in_bytes", options->memory_bytes, isolation) &&
        limit_swap(directory, "memory.memsw.limit_in_bytes", options->memory_bytes, isolation);
    cgroups->memory = directory;
  } else if (unified->directory >= 0 && enable_v2(cgroups, "memory", isolation)) {
    limited = set_number(unified->directory, "memory.max", options->memory_bytes, isolation) &&
              limit_swap(unified->directory, "memory.swap.max", 0, isolation) &&
              set_text(unified->directory, "memory.oom.group", "1", isolation);
    cgroups->memory = unified->directory;
    cgroups->memory_is_v2 = true;
  }
  if (limited) {
    add(isolation, MECHANISM_MEMORY);
  }
}

static void set_up_pids(struct cgroups* cgroups, const struct options* options,
                        struct isolation* isolation) {
  if (make(cgroups, HIERARCHY_PIDS, isolation)) {
    cgroups->pids = cgroups->groups[HIERARCHY_PIDS].directory;
  } else if (cgroups->groups[HIERARCHY_UNIFIED].directory >= 0 &&
             enable_v2(cgroups, "pids", isolation)) {
    cgroups->pids = cgroups->groups[HIERARCHY_UNIFIED].directory;
  }
  /* The limit is --processes plus one, because the jail's init process (PID 1) counts too. */
  if (cgroups->pids >= 0 &&
      set_number(cgroups->pids, "pids.max", options->processes + 1, isolation)) {
    add(isolation, MECHANISM_PIDS);
  }
}

/* Returns true if the group may use all processors that were written to cpuset.cpus. A v1 cpuset
 * rejects a list that names processors which do not exist, so the function returns true for v1. A
 * v2 cpuset accepts such a list and uses the existing processors. So the function compares the
 * written list with the list in use, which the kernel prints in the same notation. */
static bool gets_all_processors(const struct cgroups* cgroups) {
  char asked[256];
  char given[256];
  return cgroups->cpuset != cgroups->groups[HIERARCHY_UNIFIED].directory ||
         (read_file_at(cgroups->cpuset, "cpuset.cpus", asked, sizeof asked) > 0 &&
          read_file_at(cgroups->cpuset, "cpuset.cpus.effective", given, sizeof given) > 0 &&
          strcmp(asked, given) == 0);
}

/* Removes the group of the v1 controller cpuset, because no process can enter it without a list of
 * memory nodes. A group that other controllers use or that locks the slot has to stay. */
static void leave_out_cpuset(struct cgroups* cgroups) {
  struct group* group = &cgroups->groups[HIERARCHY_CPUSET];
  bool shared = cgroups->lock == HIERARCHY_CPUSET;
  for (int other = 0; other < HIERARCHY_COUNT; other++) {
    shared = shared ||
             (other != HIERARCHY_CPUSET && cgroups->groups[other].directory == group->directory);
  }
  if (!shared) {
    close(group->directory);
    group->directory = -1;
    cgroup_delete(cgroups, HIERARCHY_CPUSET);
  }
}

/* Copies the list of memory nodes from the parent group. A new v1 cpuset has an empty list, and
 * processes cannot enter a cpuset with an empty list. Returns false if this is not possible. */
static bool copy_nodes(const struct cgroups* cgroups, struct isolation* isolation) {
  const struct group* group = &cgroups->groups[HIERARCHY_CPUSET];
  char nodes[256];
  long length = read_file_at(group->directory, "../cpuset.mems", nodes, sizeof nodes);
  if (length <= 0) {
    const int error = length < 0 ? errno : ENODATA;
    char file[sizeof group->mount + 16];
    snprintf(file, sizeof file, "%s/cpuset.mems", group->mount);
    note_trouble(isolation, file, error, length < 0 ? TROUBLE_NOT_READABLE : TROUBLE_EMPTY);
    return false;
  }
  return set_text(group->directory, "cpuset.mems", nodes, isolation);
}

static void set_up_cpuset(struct cgroups* cgroups, const struct options* options,
                          struct isolation* isolation) {
  if (!options->cpus) {
    return;
  }
  if (make(cgroups, HIERARCHY_CPUSET, isolation)) {
    if (!copy_nodes(cgroups, isolation)) {
      leave_out_cpuset(cgroups);
      return;
    }
    cgroups->cpuset = cgroups->groups[HIERARCHY_CPUSET].directory;
  } else if (cgroups->groups[HIERARCHY_UNIFIED].directory >= 0 &&
             enable_v2(cgroups, "cpuset", isolation)) {
    cgroups->cpuset = cgroups->groups[HIERARCHY_UNIFIED].directory;
  } else {
    return;
  }
  int error = write_file_at(cgroups->cpuset, "cpuset.cpus", options->cpus);
  if (error == 0 && !gets_all_processors(cgroups)) {
    error = EINVAL;
  }
  if (error == EINVAL || error == EACCES || error == ERANGE) {
    die("--cpus %s: this machine does not have all these processors, or the jail's control group "
        "is not allowed to use them (%s); name processors of Cpus_allowed_list in "
        "/proc/self/status",
        options->cpus, strerror(error));
  }
  if (error) {
    note_file(isolation, cgroups->cpuset, "cpuset.cpus", error);
  } else {
    add(isolation, MECHANISM_CPUSET);
  }
}

/* Finds the files for CPU time, freezing and killing. In a v2 hierarchy, usually every group
 * contains these files, even if no controller is enabled. If there is no v2 file cpu.stat, the v1
 * controller cpuacct replaces it. If there is no v2 file cgroup.freeze, the v1 controller freezer
 * replaces it. Nothing replaces cgroup.kill. */
static void set_up_time_and_freezing(struct cgroups* cgroups, struct isolation* isolation) {
  int unified = cgroups->groups[HIERARCHY_UNIFIED].directory;
  uint64_t unused;
  if (unified >= 0 && read_keyed_number_at(unified, "cpu.stat", "usage_usec", &unused)) {
    cgroups->cpu_time = unified;
    cgroups->cpu_time_is_v2 = true;
  } else if (make(cgroups, HIERARCHY_CPUACCT, isolation)) {
    cgroups->cpu_time = cgroups->groups[HIERARCHY_CPUACCT].directory;
  }
  if (unified >= 0 && faccessat(unified, "cgroup.freeze", W_OK, 0) == 0) {
    cgroups->freezer = unified;
    cgroups->freezer_is_v2 = true;
  } else if (make(cgroups, HIERARCHY_FREEZER, isolation)) {
    cgroups->freezer = cgroups->groups[HIERARCHY_FREEZER].directory;
  }
  cgroups->has_kill = unified >= 0 && faccessat(unified, "cgroup.kill", W_OK, 0) == 0;
  if (cgroups->cpu_time >= 0) {
    add(isolation, MECHANISM_CPU_TIME);
  }
  if (cgroups->freezer >= 0) {
    add(isolation, MECHANISM_FREEZE);
  }
  if (cgroups->has_kill) {
    add(isolation, MECHANISM_KILL);
  }
}

void cgroup_create(struct cgroups* cgroups, const struct options* options,
                   struct isolation* isolation) {
  snprintf(cgroups->name, sizeof cgroups->name, "keydrome-slot-%d", options->slot);
  isolation->backend = "none";
  if (options_disabled(options, DISABLED_CGROUP)) {
    isolation->trouble = TROUBLE_DISABLED;
    return;
  }
  cgroup_find_mounts(cgroups, options->cgroup_parent);
  if (options_disabled(options, DISABLED_UNIFIED)) {
    cgroups->groups[HIERARCHY_UNIFIED].mount[0] = '\0';
  }
  make(cgroups, HIERARCHY_MEMORY, isolation);
  make(cgroups, HIERARCHY_UNIFIED, isolation);
  set_up_memory(cgroups, options, isolation);
  set_up_pids(cgroups, options, isolation);
  set_up_cpuset(cgroups, options, isolation);
  set_up_time_and_freezing(cgroups, isolation);
  if (cgroups->lock >= 0) {
    bool has_unified = cgroups->groups[HIERARCHY_UNIFIED].directory >= 0;
    bool has_v1 = false;
    for (int i = HIERARCHY_UNIFIED + 1; i < HIERARCHY_COUNT; i++) {
      has_v1 = has_v1 || cgroups->groups[i].directory >= 0;
    }
    isolation->backend = !has_unified ? "v1" : has_v1 ? "hybrid" : "v2";
  } else if (isolation->trouble == TROUBLE_NONE) {
    isolation->trouble = TROUBLE_NOT_MOUNTED;
  }
}
