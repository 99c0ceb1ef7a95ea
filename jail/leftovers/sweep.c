/* Implements `jail --sweep`: finds the slots that have leftover groups or processes. Locks each of
 * these slots, kills its processes and removes its groups. A slot is the number that selects a
 * jail's user and groups. */
#include "jail/leftovers/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jail/cgroup/group.h"
#include "jail/leftovers/processes.h"
#include "jail/support/die.h"
#include "jail/support/slot_name.h"

static const char kPrefix[] = "keydrome-slot-";

struct leftovers {
  bool slots[kSlots]; /* true for a slot that has a group or a process */
};

static void take_groups(struct leftovers* found, const char* mount) {
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
      found->slots[slot] = true;
    }
  }
  closedir(folder);
}

static void take_process(const struct process* process, void* context) {
  struct leftovers* found = context;
  found->slots[process->user - kFirstUid] = true;
}

static void kill_process(const struct process* process, void* context) {
  if (kill(process->number, SIGKILL) == 0) {
    printf("killed process %d (%s), which an earlier jail of slot %d had left\n", process->number,
           process->name, *(const int*)context);
  }
}

static void count_process(const struct process* process, void* context) {
  (void)process;
  ++*(int*)context;
}

/* Returns false if a process of the slot's user still exists after five seconds. */
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
  dprintf(STDERR_FILENO,
          "jail: the sweep killed the processes of user %u 5 seconds ago, but some still exist: "
          "they hang in the kernel; if they do not disappear, restart the machine\n",
          user);
  return false;
}

/* Returns the hierarchy whose group directory is the slot's lock: the first one in which
 * cgroup_create makes a group. Returns HIERARCHY_COUNT if none is mounted. */
static enum hierarchy lock_hierarchy(const struct cgroups* cgroups) {
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

/* Removes the slot's groups in all hierarchies. `lock_was_there` is false if the sweep itself has
 * made the group that serves as the lock; the removal of that group is then not printed. */
static bool remove_groups(struct cgroups* cgroups, enum hierarchy lock, bool lock_was_there) {
  bool removed = true;
  /* The last turn removes the group that serves as the lock. As soon as the lock is gone, a new
   * jail may create groups of the same names. */
  for (int turn = 0; turn <= HIERARCHY_COUNT; turn++) {
    enum hierarchy hierarchy = turn == HIERARCHY_COUNT ? lock : (enum hierarchy)turn;
    if ((turn < HIERARCHY_COUNT && hierarchy == lock) || !group_exists(cgroups, hierarchy)) {
      continue;
    }
    const char* mount = cgroups->groups[hierarchy].mount;
    if (!cgroup_delete(cgroups, hierarchy)) {
      const int error = errno;
      const char* why = error == EBUSY ? "the sweep killed the processes that the group's file "
                                         "cgroup.procs lists, but some still exist"
                                       : strerror(error);
      const char* advice = error == EBUSY ? "if they do not disappear, restart the machine"
                                          : cgroup_advice(error, "remove it with rmdir");
      dprintf(STDERR_FILENO, "jail: cannot remove the control group %s/%s: %s; %s\n", mount,
              cgroups->name, why, advice);
      removed = false;
    } else if (hierarchy != lock || lock_was_there) {
      printf("removed the control group %s/%s, which an earlier jail had left\n", mount,
             cgroups->name);
    }
  }
  return removed;
}

static bool sweep_slot(struct cgroups* cgroups, const struct options* options, int slot) {
  enum hierarchy lock = lock_hierarchy(cgroups);
  snprintf(cgroups->name, sizeof cgroups->name, "%s%d", kPrefix, slot);
  bool lock_was_there = group_exists(cgroups, lock);
  if (!cgroup_lock_slot(cgroups, lock)) {
    if (errno == EWOULDBLOCK) {
      return true; /* a running jail uses the slot */
    }
    const int error = errno;
    dprintf(STDERR_FILENO,
            "jail: the leftovers of slot %d stay, because the sweep cannot lock the slot: cannot "
            "make %s/%s: %s; %s\n",
            slot, cgroups->groups[lock].mount, cgroups->name, strerror(error),
            cgroup_advice(error, "run jail --sweep again"));
    return false;
  }
  cgroup_kill_leftovers(cgroups);
  bool killed = !options->has_root || kill_processes(slot);
  return remove_groups(cgroups, lock, lock_was_there) && killed;
}

/* Sweeps one slot when the command line has no --slot. Skips the slot if another process has
 * reserved it by holding the slot's name (slot_name.h). Such a process will still start a jail with
 * the slot, or is a test whose own processes run as the slot's user. */
static bool sweep_unnamed_slot(struct cgroups* cgroups, const struct options* options, int slot) {
  int name;
  if (!slot_name_take(slot, &name)) {
    return true;
  }
  bool swept = sweep_slot(cgroups, options, slot);
  if (name >= 0) {
    close(name);
  }
  return swept;
}

bool sweep_all(const struct options* options) {
  struct cgroups cgroups;
  struct leftovers found = {.slots = {false}};
  cgroup_init(&cgroups);
  cgroup_find_mounts(&cgroups, options->cgroup_parent);
  for (int i = 0; i < HIERARCHY_COUNT; i++) {
    take_groups(&found, cgroups.groups[i].mount);
  }
  if (lock_hierarchy(&cgroups) == HIERARCHY_COUNT) {
    die("--sweep: cannot tell running jails from dead ones, because no control groups are mounted; "
        "jail --check says how to mount them");
  }
  if (options->has_root) {
    processes_find(kFirstUid, kFirstUid + kSlots - 1, take_process, &found);
  }
  if (options->slot_given) {
    return !found.slots[options->slot] || sweep_slot(&cgroups, options, options->slot);
  }
  bool swept = true;
  for (int slot = 0; slot < kSlots; slot++) {
    swept = (!found.slots[slot] || sweep_unnamed_slot(&cgroups, options, slot)) && swept;
  }
  return swept;
}
