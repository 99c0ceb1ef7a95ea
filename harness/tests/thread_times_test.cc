// Tests thread_times.h and kernel_threads.h, which read the CPU times of threads from /proc. The
// tests read the times of this process and of the kernel's threads.
#include "harness/referee/session/thread_times.h"

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <latch>
#include <thread>

#include "harness/referee/session/kernel_threads.h"

namespace keydrome {
namespace {

constexpr uint64_t kMsNs = 1'000'000;

// Uses CPU time of the calling thread.
void burn(uint64_t ns) {
  timespec now{};
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (static_cast<uint64_t>(now.tv_sec) * 1'000 * kMsNs + static_cast<uint64_t>(now.tv_nsec) <
           ns);
}

TEST(ThreadTimes, AThreadThatLivesIsCountedAndOneThatHasExitedIsNot) {
  const pid_t self = getpid();
  const std::optional<ThreadTimes> before = read_thread_times(self);
  ASSERT_TRUE(before);
  std::thread([] { burn(5 * kMsNs); }).join();
  std::latch worked(1), read(1);
  pid_t helper_id = 0;
  std::thread helper([&] {
    helper_id = gettid();
    burn(20 * kMsNs);
    worked.count_down();
    read.wait();
  });
  worked.wait();
  std::optional<ThreadTimes> after;
  do {  // until the kernel's account has caught up
    after = read_thread_times(self);
    ASSERT_TRUE(after && after->contains(helper_id));
  } while (after->at(helper_id) < 20 * kMsNs);
  read.count_down();
  helper.join();
  const ThreadUse use = thread_use(self, *before, *after);
  EXPECT_EQ(use.library_threads, after->size() - 1);
  EXPECT_GE(use.library_us, 20'000u);
  EXPECT_GE(use.living_us, use.library_us);
}

TEST(ThreadTimes, WhatThreadsUsedIsTheGrowth) {
  const ThreadTimes before{{1, 10 * kMsNs}, {2, 4 * kMsNs}, {3, 9 * kMsNs}};
  // Thread 2 has exited. Threads 3 and 4 are new threads; 3 got the id of a thread that has exited.
  const ThreadTimes after{{1, 12 * kMsNs}, {3, 1 * kMsNs}, {4, 5 * kMsNs}};
  const ThreadUse use = thread_use(1, before, after);
  EXPECT_EQ(use.living_us, 8'000u);
  EXPECT_EQ(use.library_us, 6'000u);
  EXPECT_EQ(use.library_threads, 3u);
  EXPECT_EQ(use.library_ended, 1u);
}

TEST(ThreadTimes, AMissingProcessHasNone) {
  EXPECT_FALSE(read_thread_times(0));
  EXPECT_FALSE(read_thread_times(INT32_MAX));
}

// In a container with its own PID namespace, /proc does not show the kernel's threads, so there may
// be none.
TEST(KernelThreads, TheirTimesGrow) {
  const KernelThreads threads;
  const KernelThreads::Times before = threads.cpu_us();
  const KernelThreads::Times after = threads.cpu_us();
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [name, us] : before) EXPECT_GE(after.at(name), us) << name;
  if (access("/proc/2/exe", F_OK) != 0 && access("/proc/2/comm", F_OK) == 0) {
    EXPECT_TRUE(before.contains("kcompactd") || before.contains("kswapd"));
  }
}

}  // namespace
}  // namespace keydrome
