/* Implements jail/leftovers/find.h: looks for processes and mounts that a finished jail has left.
 * Every run ends with this check, so the check must be fast. */
#include "jail/leftovers/find.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jail/filesystem/mounts.h"
#include "jail/leftovers/processes.h"
#include "jail/support/clock.h"
#include "jail/support/die.h"

/* How long the check waits for dying processes to disappear. */
enum { kDyingUs = 500000 };

static dev_t device_of_root_place(void) {
  struct stat status;
  if (stat(kMountsPlace, &status) < 0) {
    die("cannot read the status of the folder %s, which the jail needs: %s; create it with "
        "`mkdir -m 1777 %s`",
        kMountsPlace, strerror(errno), kMountsPlace);
  }
  return status.st_dev;
}

void leftovers_note_baseline(struct leftovers_baseline* baseline) {
  baseline->root_device = device_of_root_place();
}

/* Returns true if the current user may have processes other than this one. RLIMIT_NPROC must be 2,
 * and this process must have one thread and no effective capability. The function asks the kernel
 * to start a second thread. If the user also has another process, the thread would exceed the
 * limit, and the kernel returns EAGAIN.
 *
 * The call never starts a thread, because it also requests a thread number. The kernel allows such
 * a request only with a capability; it checks this after RLIMIT_NPROC and returns EPERM. Starting a
 * real thread would take ten times as long, and reading /proc a hundred times as long. */
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
  /* The saved user stays root, so that the second setresuid can become root again. */
  if (getrlimit(RLIMIT_NPROC, &before) < 0 || setresuid(user, user, 0) < 0) {
    die_step("cannot become user %u to look for its processes (setresuid)", (unsigned int)user);
  }
  const struct rlimit two = {.rlim_cur = 2, .rlim_max = before.rlim_max};
  bool others = setrlimit(RLIMIT_NPROC, &two) < 0 || may_have_others();
  if (setrlimit(RLIMIT_NPROC, &before) < 0 || setresuid(0, 0, 0) < 0) {
    die_step("cannot become root again after looking for processes (setresuid)");
  }
  return others;
}

/* Appends formatted text to the string `text`, which has room for `capacity` bytes in all. */
__attribute__((format(printf, 3, 4))) static void append(char* text, size_t capacity,
                                                         const char* format, ...) {
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, capacity - used, format, arguments);
  va_end(arguments);
}

struct found {
  char list[160]; /* the processes, separated by commas; ends with "..." if more do not fit */
  int count;
  bool full;
};

static void take_process(const struct process* process, void* context) {
  static const char more[] = ", ...";
  struct found* found = context;
  char text[64];
  snprintf(text, sizeof text, "%s%d (%s)", found->count ? ", " : "", process->number,
           process->name);
  const bool fits = strlen(found->list) + strlen(text) + sizeof more <= sizeof found->list;
  if (!found->full) {
    append(found->list, sizeof found->list, "%s", fits ? text : more);
  }
  found->full = found->full || !fits;
  found->count++;
}

static bool processes_left(const struct options* options, struct found* found) {
  /* For an ordinary caller the check is impossible: the program ran as the caller's own user, which
   * has other processes. */
  if (!options->has_root || !user_may_have_others(options)) {
    return false;
  }
  /* The kernel's count may include processes that are about to disappear, such as leftovers that
   * this jail killed when it started. Therefore /proc decides: the loop reads /proc until no
   * process of the user is listed, or until the deadline has passed. */
  const struct timespec pause = {.tv_nsec = 10000000};
  const uint64_t deadline = now_us() + kDyingUs;
  for (;;) {
    *found = (struct found){.count = 0};
    processes_find(options_user(options), options_user(options), take_process, found);
    if (found->count == 0 || now_us() > deadline) {
      return found->count > 0;
    }
    nanosleep(&pause, NULL);
  }
}

/* Writes what is left, and what a person can do about it, into `text`. `list` is the list of
 * processes, "" if there are none. */
static void describe(char* text, size_t capacity, const char* list, int slot, bool groups,
                     bool mounts) {
  const bool swept = *list || groups; /* jail --sweep removes processes and groups */
  if (*list) {
    append(text, capacity, "processes %s", list);
  }
  if (groups) {
    append(text, capacity, "%scontrol groups keydrome-slot-%d", *list ? ", " : "", slot);
  }
  if (mounts) {
    append(text, capacity, "%sa mount on %s", swept ? ", " : "", kMountsPlace);
  }
  if (swept) {
    append(text, capacity, "; an operator of this machine must run jail --sweep, which removes %s",
           mounts ? "all but the mount" : "them");
  }
  if (mounts) {
    append(text, capacity, "%s unmount what was mounted on %s during the run",
           swept ? ", and" : "; an operator of this machine must", kMountsPlace);
  }
}

const char* leftovers_find(const struct leftovers_baseline* baseline, const struct options* options,
                           bool groups_removed, char* detail, size_t capacity) {
  static char names[32];
  struct found found = {.count = 0};
  bool processes = processes_left(options, &found);
  bool groups = !groups_removed;
  bool mounts = device_of_root_place() != baseline->root_device;
  detail[0] = '\0';
  describe(detail, capacity, processes ? found.list : "", options->slot, groups, mounts);
  snprintf(names, sizeof names, "%s%s%s", processes ? ",processes" : "", groups ? ",groups" : "",
           mounts ? ",mounts" : "");
  return names[0] ? names + 1 : names;
}
