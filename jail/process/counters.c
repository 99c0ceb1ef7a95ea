/* Implements jail/process/counters.h: counts events of the jailed processes, such as cycles and
 * page faults. Opens and reads one perf event per counter. */
#include "jail/process/counters.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

struct kind {
  uint32_t type;
  uint64_t config;
};

static const struct kind kKinds[KEYDROME_JAIL_COUNTERS] = {
    [KEYDROME_JAIL_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [KEYDROME_JAIL_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [KEYDROME_JAIL_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    [KEYDROME_JAIL_BRANCH_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    [KEYDROME_JAIL_STALLED_FRONTEND] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    [KEYDROME_JAIL_STALLED_BACKEND] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    [KEYDROME_JAIL_PAGE_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    [KEYDROME_JAIL_CONTEXT_SWITCHES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    [KEYDROME_JAIL_MIGRATIONS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

void counters_init(struct counters* counters) {
  for (int i = 0; i < KEYDROME_JAIL_COUNTERS; i++) {
    counters->events[i] = -1;
  }
}

void counters_open(struct counters* counters, pid_t process) {
  for (int i = 0; i < KEYDROME_JAIL_COUNTERS; i++) {
    struct perf_event_attr attributes = {
        .type = kKinds[i].type,
        .size = sizeof attributes,
        .config = kKinds[i].config,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .inherit = 1,
        .exclude_hv = 1,
    };
    counters->events[i] =
        (int)syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC);
  }
}

static uint64_t read_event(int event) {
  struct {
    uint64_t count;
    uint64_t enabled;
    uint64_t running;
  } seen;
  if (event < 0 || read(event, &seen, sizeof seen) != sizeof seen) {
    return UINT64_MAX;
  }
  if (seen.running == seen.enabled) {
    return seen.count;
  }
  if (seen.running == 0) {
    return UINT64_MAX; /* unknown: the kernel has not scheduled this event yet */
  }
  return (uint64_t)((double)seen.count * ((double)seen.enabled / (double)seen.running));
}

void counters_read(const struct counters* counters, uint64_t counts[KEYDROME_JAIL_COUNTERS]) {
  for (int i = 0; i < KEYDROME_JAIL_COUNTERS; i++) {
    counts[i] = read_event(counters->events[i]);
  }
}
