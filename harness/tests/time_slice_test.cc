// Tests that a process gets short time slices, and that the processes that it starts inherit them.
// A child process makes the request, because the slices of the test process must stay as they are.
#include "harness/referee/machine/time_slice.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace keydrome {
namespace {

constexpr int kAsked = 1, kShort = 2;  // bits of a child's exit status

// Returns the slice of the calling thread: the field sched_runtime of struct sched_attr, which is
// the fourth 64-bit word (sched_getattr(2)).
uint64_t own_slice_ns() {
  std::array<uint64_t, 6> attributes{};
  return syscall(SYS_sched_getattr, 0, attributes.data(), sizeof attributes, 0) == 0 ? attributes[3]
                                                                                     : 0;
}

template <typename Action>
int status_of_child(const Action& action) {
  const pid_t child = fork();
  if (child == 0) _exit(action());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

// Starts a child process that takes the scheduling policy and asks for short slices. Returns kAsked
// if the request succeeded. Adds kShort if a process that the child starts has short slices, too.
int ask_with(int policy) {
  return status_of_child([policy] {
    const sched_param parameters{};
    if (sched_setscheduler(0, policy, &parameters) != 0) return 0;
    const int asked = ask_for_short_time_slices() ? kAsked : 0;
    return asked | status_of_child([] { return own_slice_ns() == kShortSliceNs ? kShort : 0; });
  });
}

// Linux 6.12 or newer has slices of different lengths.
bool kernel_has_slices() {
  utsname names{};
  EXPECT_EQ(uname(&names), 0);
  char* end = nullptr;  // of the version, such as 6.12.3
  const long major = std::strtol(names.release, &end, 10);
  EXPECT_EQ(*end, '.') << names.release;
  const long minor = std::strtol(end + 1, nullptr, 10);
  return major > 6 || (major == 6 && minor >= 12);
}

TEST(TimeSliceTest, ChildProcessesInheritShortSlices) {
  EXPECT_EQ(ask_with(SCHED_OTHER), kernel_has_slices() ? kAsked | kShort : kAsked);
}

TEST(TimeSliceTest, AThreadOfAnotherPolicyStaysAsItIs) { EXPECT_EQ(ask_with(SCHED_BATCH), 0); }

TEST(TimeSliceTest, TheRequestKeepsThePriority) {
  const int nice = status_of_child([] {
    if (setpriority(PRIO_PROCESS, 0, 7) != 0 || !ask_for_short_time_slices()) return 0;
    return getpriority(PRIO_PROCESS, 0);
  });
  EXPECT_EQ(nice, 7);
}

}  // namespace
}  // namespace keydrome
