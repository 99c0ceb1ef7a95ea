#include "jail/sweep.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jail/cgroup_find.h"
#include "jail/processes.h"
#include "jail/util.h"

static const char kPrefix[] = "keydrome-slot-";

struct left_overs {
  bool slots[kSlots]; /* of which there is something */
};

static void take_groups(struct left_overs* left, const char* mount) {
  DIR* folder = mount[0] ? opendir(mount) : NULL;
  if (!folder) {
    return;
  }
  for (struct dirent* entry; (entry = readdir(folder));) {
    char* end;
    if (strncmp(entry->d_name, kPrefix, sizeof kPrefix - 1) != 0) {
      continue;
    }
    const char* digits = entry->d_name + sizeof kPrefix - 1;
    unsigned long slot = strtoul(digits, &end, 10);
    if (end != digits && !*end && slot < kSlots) {
      left->slots[slot] = true;
    }
  }
  closedir(folder);
}

static void take_process(const struct process* process, void* context) {
  struct left_overs* left = context;
  left->slots[process->user - kFirstUid] = true;
}

static void kill_process(const struct process* process, void* context) {
  if (kill(process->number, SIGKILL) == 0) {
    printf("swept: process %d (%s) of slot %d\n", process->number, process->name,
           *(const int*)context);
  }
}

static void count_process(const struct process* process, void* context) {
  (void)process;
  ++*(int*)context;
}

/* False if a process of the slot's user is still there after five seconds. */
static bool kill_processes(int slot) {
  const struct timespec pause = {.tv_nsec = 2000000};
  const unsigned int user = (unsigned int)(kFirstUid + slot);
  processes_find(user, user, kill_process, &slot);
  for (int attempt = 0; attempt < 2500; attempt++) {
    int left = 0;
    processes_find(user, user, count_process, &left);
    if (left == 0) {
      return true;
    }
    nanosleep(&pause, NULL);
  }
  dprintf(STDERR_FILENO, "jail: processes of user %u do not die: they hang in the kernel\n", user);
  return false;
}

/* The hierarchy whose group is a slot's lock: the first that a jail makes. */
static enum hierarchy lock_of(const struct cgroups* cgroups) {
  if (cgroups->groups[HIERARCHY_MEMORY].mount[0]) {
    return HIERARCHY_MEMORY;
  }
  int lock = HIERARCHY_UNIFIED;
  while (lock < HIERARCHY_COUNT && !cgroups->groups[lock].mount[0]) {
    lock++;
  }
  return (enum hierarchy)lock;
}

static bool group_exists(const struct cgroups* cgroups, enum hierarchy hierarchy) {
  char path[kMaxMountPath + kMaxGroup + 40];
  const char* mount = cgroups->groups[hierarchy].mount;
  snprintf(path, sizeof path, "%s/%s", mount, cgroups->name);
  struct stat status;
  return mount[0] && stat(path, &status) == 0;
}

static bool drop_groups(struct cgroups* cgroups, enum hierarchy lock, bool lock_was_there) {
  bool dropped = true;
  /* The lock last: with it gone, a jail may make groups of the same names. */
  for (int turn = 0; turn <= HIERARCHY_COUNT; turn++) {
    enum hierarchy hierarchy = turn == HIERARCHY_COUNT ? lock : (enum hierarchy)turn;
    if ((turn < HIERARCHY_COUNT && hierarchy == lock) || !group_exists(cgroups, hierarchy)) {
      continue;
    }
    const char* mount = cgroups->groups[hierarchy].mount;
    if (!cgroup_drop(cgroups, hierarchy)) {
      dprintf(STDERR_FILENO, "jail: %s/%s cannot be emptied: see its cgroup.procs\n", mount,
              cgroups->name);
      dropped = false;
    } else if (hierarchy != lock || lock_was_there) {
      printf("swept: group %s/%s\n", mount, cgroups->name);
    }
  }
  return dropped;
}

static bool sweep_slot(struct cgroups* cgroups, const struct options* options, int slot) {
  enum hierarchy lock = lock_of(cgroups);
  snprintf(cgroups->name, sizeof cgroups->name, "%s%d", kPrefix, slot);
  bool lock_was_there = group_exists(cgroups, lock);
  if (!cgroup_claim(cgroups, lock)) {
    return true; /* a running jail's */
  }
  cgroup_sweep(cgroups);
  bool killed = !options->has_root || kill_processes(slot);
  return drop_groups(cgroups, lock, lock_was_there) && killed;
}

bool sweep_all(const struct options* options) {
  struct cgroups cgroups;
  struct left_overs left = {.slots = {false}};
  cgroup_init(&cgroups);
  cgroup_find_mounts(&cgroups, options->cgroup_parent);
  for (int i = 0; i < HIERARCHY_COUNT; i++) {
    take_groups(&left, cgroups.groups[i].mount);
  }
  if (lock_of(&cgroups) == HIERARCHY_COUNT) {
    die("--sweep: without control groups running jails cannot be told from dead ones");
  }
  if (options->has_root) {
    processes_find(kFirstUid, kFirstUid + kSlots - 1, take_process, &left);
  }
  bool swept = true;
  for (int slot = 0; slot < kSlots; slot++) {
    bool meant = left.slots[slot] && (!options->slot_given || slot == options->slot);
    swept = (!meant || sweep_slot(&cgroups, options, slot)) && swept;
  }
  return swept;
}
