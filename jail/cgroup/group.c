/* Implements jail/cgroup/group.h: works on single control groups through the files of the cgroup
 * file system. The groups are named after the jail's slot, a number that only one running jail may
 * hold. A leftover group is one that an earlier, killed jail of the same slot could not remove. */
#include "jail/cgroup/group.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jail/support/die.h"
#include "jail/support/files.h"

/* cgroup_delete tries kDrainAttempts times, with a pause of 2 ms after each try, so five seconds in
 * all. cgroup_make tries kMakeAttempts times: it tries again after it has removed a leftover, or if
 * another jail has removed the directory. */
enum { kPathCapacity = kMaxMountPath + kMaxGroup + 40, kDrainAttempts = 2500, kMakeAttempts = 5 };

static const char* const kControllers[HIERARCHY_COUNT] = {NULL,     "memory",  "pids",
                                                          "cpuset", "freezer", "cpuacct"};

/* Returns true if `word` is one of the comma-separated words of `list`. */
static bool has_word(const char* list, const char* word) {
  size_t length = strlen(word);
  for (const char* found = strstr(list, word); found; found = strstr(found + 1, word)) {
    bool starts = found == list || found[-1] == ',';
    if (starts && (found[length] == ',' || found[length] == '\n' || found[length] == '\0')) {
      return true;
    }
  }
  return false;
}

/* If a line of mountinfo describes a hierarchy of control groups, stores its mount point. The
 * format of a line is
 *     ID PARENT DEVICE ROOT MOUNT OPTIONS... - TYPE SOURCE SUPER-OPTIONS */
static void take_mount(struct cgroups* cgroups, const char* line) {
  const char* separator = strstr(line, " - ");
  char mount[kMaxMountPath];
  char type[32];
  char super_options[256];
  if (!separator || sscanf(line, "%*s %*s %*s %*s %199s", mount) != 1 ||
      sscanf(separator + 3, "%31s %*s %255s", type, super_options) != 2) {
    return;
  }
  for (int i = 0; i < HIERARCHY_COUNT; i++) {
    bool matches = kControllers[i]
                       ? strcmp(type, "cgroup") == 0 && has_word(super_options, kControllers[i])
                       : strcmp(type, "cgroup2") == 0;
    char* found = cgroups->groups[i].mount;
    /* Prefer a writable mount: a container often has a read-only mount of its own, in addition to
     * the writable bind mount for the jail. */
    if (matches && (!found[0] || (access(found, W_OK) < 0 && access(mount, W_OK) == 0))) {
      memcpy(found, mount, sizeof mount);
    }
  }
}

void cgroup_find_mounts(struct cgroups* cgroups, const char* parent) {
  FILE* file = fopen("/proc/self/mountinfo", "re");
  if (!file) {
    return; /* cgroup_create then reports TROUBLE_NOT_MOUNTED */
  }
  char* line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) {
    take_mount(cgroups, line);
  }
  free(line);
  fclose(file);
  for (int i = 0; i < HIERARCHY_COUNT && parent; i++) {
    char* mount = cgroups->groups[i].mount;
    size_t used = strlen(mount);
    if (used) {
      snprintf(mount + used, sizeof cgroups->groups[i].mount - used, "/%s", parent);
    }
  }
}

static void group_path(const struct cgroups* cgroups, enum hierarchy hierarchy, char* path) {
  snprintf(path, kPathCapacity, "%s/%s", cgroups->groups[hierarchy].mount, cgroups->name);
}

static void kill_members(int directory) {
  int fd = openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC);
  FILE* file = fd < 0 ? NULL : fdopen(fd, "r");
  if (!file) {
    return;
  }
  char line[32];
  while (fgets(line, sizeof line, file)) {
    long process = strtol(line, NULL, 10);
    if (process > 1) {
      kill((pid_t)process, SIGKILL);
    }
  }
  fclose(file);
}

/* Kills the processes of each leftover group with cgroup.kill, which also kills frozen processes.
 * If a group has no cgroup.kill, kills its processes one by one and then thaws the group, because
 * frozen processes die only after they have been thawed. */
void cgroup_kill_leftovers(const struct cgroups* cgroups) {
  for (int i = 0; i < HIERARCHY_COUNT; i++) {
    const struct group* group = &cgroups->groups[i];
    char path[kPathCapacity];
    group_path(cgroups, (enum hierarchy)i, path);
    /* Skip the groups that this jail has made. They are empty, and writing cgroup.kill there would
     * later kill the jail's own child: on Linux 6.18, clone3 into a group kills the new process if
     * cgroup.kill was ever written in that group. (Tested; the kernel's cgroup-v2 documentation
     * does not mention it.) */
    bool is_leftover = group->mount[0] && group->directory < 0;
    int directory = is_leftover ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory < 0) {
      continue;
    }
    if (write_file_at(directory, "cgroup.kill", "1") != 0) {
      kill_members(directory);
      write_file_at(directory, "cgroup.freeze", "0");
      write_file_at(directory, "freezer.state", "THAWED");
    }
    close(directory);
  }
}

bool cgroup_delete(const struct cgroups* cgroups, enum hierarchy hierarchy) {
  char path[kPathCapacity];
  group_path(cgroups, hierarchy, path);
  /* Poll, because the kernel has no event for the moment when the last dying thread leaves a v1
   * group. */
  const struct timespec pause = {.tv_nsec = 2000000};
  for (int attempt = 0; attempt < kDrainAttempts; attempt++) {
    if (rmdir(path) == 0 || errno == ENOENT) {
      return true;
    }
    if (errno != EBUSY) {
      return false;
    }
    nanosleep(&pause, NULL);
  }
  return false;
}

/* Returns true if `path` still leads to the directory that this process has opened and locked. The
 * slot's lock is an flock on a group's directory. Another jail may have removed the directory
 * between this process's open and flock. Then the next jail would lock a new directory of the same
 * name, and two jails would use the slot. */
static bool is_still_named(int directory, const char* path) {
  struct stat held;
  struct stat named;
  return fstat(directory, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino;
}

static bool take_lock(int directory, const struct cgroups* cgroups) {
  if (flock(directory, LOCK_EX | LOCK_NB) == 0) {
    return true;
  }
  if (errno == EWOULDBLOCK) {
    die("a running jail uses this slot (it holds the control group %s): choose another --slot",
        cgroups->name);
  }
  return false;
}

const char* cgroup_advice(int error, const char* otherwise) {
  switch (error) {
    case EPERM:
    case EACCES:
      return geteuid() == 0 ? "run jail --sweep as root of the host, outside any container"
                            : "run jail --sweep as root";
    case EROFS:
      return "make the control groups writable: in a container, add the volume "
             "/sys/fs/cgroup:/sys/fs/cgroup:rw, or run jail --sweep on the host";
    default:
      return otherwise;
  }
}

bool cgroup_lock_slot(const struct cgroups* cgroups, enum hierarchy lock) {
  char path[kPathCapacity];
  group_path(cgroups, lock, path);
  if (mkdir(path, 0755) < 0 && errno != EEXIST) {
    return false;
  }
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    return false;
  }
  if (flock(directory, LOCK_EX | LOCK_NB) == 0 && is_still_named(directory, path)) {
    return true; /* the directory stays open, because closing it releases the lock */
  }
  close(directory);
  /* Another jail holds the lock, or has just removed the directory. */
  errno = EWOULDBLOCK;
  return false;
}

bool cgroup_make(struct cgroups* cgroups, enum hierarchy hierarchy, bool lock) {
  char path[kPathCapacity];
  group_path(cgroups, hierarchy, path);
  for (int attempt = 0; attempt < kMakeAttempts; attempt++) {
    bool made = mkdir(path, 0755) == 0;
    if (!made && errno != EEXIST) {
      return false;
    }
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
      continue;
    }
    if (lock && (!take_lock(directory, cgroups) || !is_still_named(directory, path))) {
      close(directory);
      continue;
    }
    if (made) {
      cgroups->groups[hierarchy].directory = directory;
      return true;
    }
    cgroup_kill_leftovers(cgroups);
    bool deleted = cgroup_delete(cgroups, hierarchy);
    int reason = errno;
    close(directory);
    if (!deleted && reason == EBUSY) {
      die("cannot remove %s, a leftover of an earlier jail: this jail killed the processes that "
          "the group's file cgroup.procs lists, but some still exist; if they do not disappear, "
          "restart the machine",
          path);
    }
    if (!deleted) {
      die("cannot remove %s, a leftover of an earlier jail: %s; %s, or choose another --slot", path,
          strerror(reason), cgroup_advice(reason, "remove it with rmdir"));
    }
  }
  errno = EAGAIN;
  return false;
}
