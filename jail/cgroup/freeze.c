/* Implements cgroup_freeze() of cgroup.h: freezes and thaws all threads of a jail with the freezer
 * of cgroup v2 or v1. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "jail/cgroup/cgroup.h"
#include "jail/support/clock.h"
#include "jail/support/files.h"

enum { kFreezeTimeoutUs = 2000000, kFreezeSoonUs = 2000 };

static bool has_state_v1(const struct cgroups* cgroups, bool frozen) {
  char state[32];
  return read_file_at(cgroups->freezer, "freezer.state", state, sizeof state) > 0 &&
         strncmp(state, frozen ? "FROZEN" : "THAWED", 6) == 0;
}

static bool has_state_v2(const struct cgroups* cgroups, bool frozen) {
  uint64_t now_frozen;
  return read_keyed_number_at(cgroups->freezer, "cgroup.events", "frozen", &now_frozen) &&
         now_frozen == (frozen ? 1 : 0);
}

static bool has_state(const struct cgroups* cgroups, bool frozen) {
  return cgroups->freezer_is_v2 ? has_state_v2(cgroups, frozen) : has_state_v1(cgroups, frozen);
}

static int write_state(const struct cgroups* cgroups, bool frozen) {
  return cgroups->freezer_is_v2
             ? write_file_at(cgroups->freezer, "cgroup.freeze", frozen ? "1" : "0")
             : write_file_at(cgroups->freezer, "freezer.state", frozen ? "FROZEN" : "THAWED");
}

/* Waits until the group is frozen or thawed; this usually takes less than 0.1 ms. Reads the state
 * every 20 us during the first 2 ms, and then every millisecond. Does not wait for events: the v2
 * file cgroup.events raises POLLPRI at most every 10 ms (CGROUP_FILE_NOTIFY_MIN_INTV in
 * kernel/cgroup/cgroup.c), and v1 has no events. A v1 group can stay FREEZING for ever if a process
 * starts another process while the group freezes. Therefore the loop writes the v1 state again, as
 * the kernel's documentation (cgroup-v1/freezer-subsystem) advises. */
static int wait_for_state(const struct cgroups* cgroups, bool frozen) {
  const uint64_t started = now_us();
  while (!has_state(cgroups, frozen)) {
    const uint64_t waited = now_us() - started;
    if (waited > kFreezeTimeoutUs) {
      return ETIMEDOUT;
    }
    const bool is_soon = waited < kFreezeSoonUs;
    const struct timespec pause = {.tv_nsec = is_soon ? 20000 : 1000000};
    nanosleep(&pause, NULL);
    if (!is_soon && !cgroups->freezer_is_v2) {
      write_state(cgroups, frozen);
    }
  }
  return 0;
}

int cgroup_freeze(const struct cgroups* cgroups, bool frozen) {
  if (cgroups->freezer < 0) {
    return ENOTSUP;
  }
  int error = write_state(cgroups, frozen);
  return error ? error : wait_for_state(cgroups, frozen);
}
