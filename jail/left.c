#include "jail/left.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jail/mounts.h"
#include "jail/processes.h"
#include "jail/util.h"

enum { kDyingUs = 500000 };

static dev_t device_of_place(void) {
  struct stat status;
  if (stat(kMountsPlace, &status) < 0) {
    die_errno("stat %s", kMountsPlace);
  }
  return status.st_dev;
}

void left_before(struct left* left) { left->place = device_of_place(); }

/* Has the kernel count. As the jail's user, with two threads allowed, a second one is refused with
 * EAGAIN if that user has others already. That is looked at before the number of the new thread:
 * 1 is not to be had, so that none is ever started. Starting one takes ten times as long, reading
 * all of /proc a hundred times. */
static bool may_have_others(void) {
  pid_t number = 1;
  struct clone_args arguments = {
      .flags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_FS | CLONE_FILES,
      .set_tid = (uint64_t)(uintptr_t)&number,
      .set_tid_size = 1,
  };
  return syscall(SYS_clone3, &arguments, sizeof arguments) >= 0 || errno != EPERM;
}

static bool user_may_have_others(const struct options* options) {
  const uid_t user = (uid_t)options_user(options);
  struct rlimit before;
  /* The saved user stays root, which brings everything back. */
  if (getrlimit(RLIMIT_NPROC, &before) < 0 || setresuid(user, user, 0) < 0) {
    die_errno("cannot look for processes of user %u", (unsigned int)user);
  }
  const struct rlimit two = {.rlim_cur = 2, .rlim_max = before.rlim_max};
  bool others = setrlimit(RLIMIT_NPROC, &two) < 0 || may_have_others();
  if (setrlimit(RLIMIT_NPROC, &before) < 0 || setresuid(0, 0, 0) < 0) {
    die_errno("cannot become root again");
  }
  return others;
}

struct found {
  char* text;
  size_t capacity;
  int count;
};

static void take_process(const struct process* process, void* context) {
  struct found* found = context;
  size_t used = strlen(found->text);
  snprintf(found->text + used, found->capacity - used, " %d (%s)", process->number, process->name);
  found->count++;
}

static bool processes_left(const struct options* options, char* detail, size_t capacity) {
  /* An ordinary user's program has the user's own number, and so have other processes. */
  if (!options->has_root || !user_may_have_others(options)) {
    return false;
  }
  /* Whatever the answer meant: /proc decides. What an earlier jail left was killed when this one
   * started, and a process can be out of its groups and still on its way out. */
  const struct timespec pause = {.tv_nsec = 10000000};
  const uint64_t deadline = now_us() + kDyingUs;
  for (;;) {
    struct found found = {.text = detail, .capacity = capacity};
    detail[0] = '\0';
    processes_find(options_user(options), options_user(options), take_process, &found);
    if (found.count == 0 || now_us() > deadline) {
      return found.count > 0;
    }
    nanosleep(&pause, NULL);
  }
}

const char* left_after(const struct left* left, const struct options* options, bool groups_removed,
                       char* detail, size_t capacity) {
  static char names[32];
  detail[0] = '\0';
  bool processes = processes_left(options, detail, capacity);
  bool mounts = device_of_place() != left->place;
  snprintf(names, sizeof names, "%s%s%s", processes ? ",processes" : "",
           groups_removed ? "" : ",groups", mounts ? ",mounts" : "");
  return names[0] ? names + 1 : names;
}
