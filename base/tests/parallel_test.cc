// Tests base/parallel.h: every part runs once, on several threads, and exceptions reach the caller.
#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <latch>
#include <new>
#include <stdexcept>
#include <vector>

namespace keydrome {
namespace {

TEST(Parallel, EachPartRunsOnce) {
  for (const std::size_t count : {0u, 1u, 2u, 1000u}) {
    std::vector<std::atomic<int>> calls(count);
    in_parallel(count, [&](std::size_t i) { ++calls[i]; });
    for (const std::atomic<int>& made : calls) EXPECT_EQ(made, 1);
  }
}

TEST(Parallel, PartsRunAtTheSameTime) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  const int cpus = CPU_COUNT(&set);
  std::latch both(cpus > 1 ? 2 : 1);  // with one CPU, the parts run one after the other
  in_parallel(2, [&](std::size_t) {
    if (cpus > 1) both.arrive_and_wait();
  });
  if (cpus == 1) both.count_down();
  EXPECT_TRUE(both.try_wait());
}

TEST(Parallel, TheFirstExceptionIsThrownAfterAllParts) {
  std::atomic<int> calls = 0;
  const auto part = [&](std::size_t i) {
    ++calls;
    if (i == 7) throw std::runtime_error("part 7");
    if (i == 3) throw std::bad_alloc();
  };
  EXPECT_THROW(in_parallel(20, part), std::bad_alloc);
  EXPECT_EQ(calls, 20);
}

}  // namespace
}  // namespace keydrome
