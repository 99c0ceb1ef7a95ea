/* Implements the functions of cgroup.h that a running jail needs: enters the groups, kills their
 * processes, reads the usage, and removes the groups at the end. create.c makes the groups, and
 * freeze.c freezes their processes. The groups are named after the jail's slot, a number that only
 * one running jail may hold. */
#include "jail/cgroup/cgroup.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/cgroup/group.h"
#include "jail/support/die.h"
#include "jail/support/files.h"

void cgroup_init(struct cgroups* cgroups) {
  memset(cgroups, 0, sizeof *cgroups);
  for (int i = 0; i < HIERARCHY_COUNT; i++) {
    cgroups->groups[i].directory = -1;
  }
  cgroups->lock = cgroups->memory = cgroups->pids = -1;
  cgroups->cpuset = cgroups->cpu_time = cgroups->freezer = -1;
}

int cgroup_clone_target(const struct cgroups* cgroups) {
  return cgroups->groups[HIERARCHY_UNIFIED].directory;
}

void cgroup_enter(const struct cgroups* cgroups) {
  for (int i = HIERARCHY_UNIFIED + 1; i < HIERARCHY_COUNT; i++) {
    int directory = cgroups->groups[i].directory;
    if (directory < 0) {
      continue;
    }
    /* Moving only the calling thread takes microseconds. Writing to cgroup.procs, or moving this
     * process from outside, takes milliseconds, because the kernel waits for all processors. */
    int error = write_file_at(directory, "tasks", "0");
    if (error) {
      errno = error;
      die_step("cannot enter the control group %s/%s", cgroups->groups[i].mount, cgroups->name);
    }
  }
  for (int i = 0; i < HIERARCHY_COUNT; i++) {
    if (cgroups->groups[i].directory >= 0) {
      close(cgroups->groups[i].directory);
    }
  }
}

void cgroup_kill(const struct cgroups* cgroups, int init_pidfd) {
  if (cgroups->has_kill) {
    write_file_at(cgroups->groups[HIERARCHY_UNIFIED].directory, "cgroup.kill", "1");
  }
  syscall(SYS_pidfd_send_signal, init_pidfd, SIGKILL, NULL, 0);
  if (cgroups->freezer >= 0 && !cgroups->freezer_is_v2) {
    /* A frozen process of a v1 group dies only after the group has been thawed. */
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
  usage->cpu_us = cgroup_cpu_us(cgroups);
}

uint64_t cgroup_cpu_us(const struct cgroups* cgroups) {
  if (cgroups->cpu_time < 0) {
    return UINT64_MAX;
  }
  uint64_t time;
  if (!cgroups->cpu_time_is_v2) {
    time = number_or_unknown(cgroups->cpu_time, "cpuacct.usage");
    return time == UINT64_MAX ? time : time / 1000;
  }
  bool known = read_keyed_number_at(cgroups->cpu_time, "cpu.stat", "usage_usec", &time);
  return known ? time : UINT64_MAX;
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
  if (group->directory < 0 || cgroup_delete(cgroups, hierarchy)) {
    return true;
  }
  const char* why = errno == EBUSY ? "it still contains processes" : strerror(errno);
  dprintf(STDERR_FILENO, "jail: cannot remove the control group %s/%s: %s\n", group->mount,
          cgroups->name, why);
  return false;
}

bool cgroup_remove(const struct cgroups* cgroups) {
  bool removed = true;
  /* The directory of one group serves as the slot's lock. Remove this group last: as soon as the
   * lock is gone, the next jail of this slot may create groups of the same names. */
  for (int i = 0; i < HIERARCHY_COUNT; i++) {
    if (i != cgroups->lock) {
      removed = remove_one(cgroups, (enum hierarchy)i) && removed;
    }
  }
  return cgroups->lock < 0 || (remove_one(cgroups, (enum hierarchy)cgroups->lock) && removed);
}
