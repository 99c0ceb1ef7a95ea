// Implements time_slice.h: asks the kernel for short time slices with the system call
// sched_setattr, for which the C library has no function.
#include "harness/referee/machine/time_slice.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace keydrome {
namespace {

// The kernel's struct sched_attr in its first version, of 48 bytes: sched_setattr(2).
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = SCHED_OTHER;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;  // the length of a slice
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};
static_assert(sizeof(Attributes) == 48);

}  // namespace

bool ask_for_short_time_slices() {
  if (sched_getscheduler(0) != SCHED_OTHER) return false;
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, 0);
  if (errno != 0) return false;
  const Attributes attributes{.nice = nice, .runtime_ns = kShortSliceNs};
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

}  // namespace keydrome
