// Tests the bound of the memory of the referee, the process that runs a benchmark: allocations
// beyond it fail, and child processes are not bound.
#include "harness/referee/machine/memory_bound.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdlib>
#include <new>
#include <vector>

namespace keydrome {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

uint64_t limit_now() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  return limit.rlim_cur;
}

// Runs `check` in a child process, because `check` sets limits of its process.
void in_a_child(void (*check)()) {
  const pid_t child = fork();
  if (child == 0) {
    check();
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(MemoryBound, AnAllocationBeyondItFails) {
  in_a_child([] {
    EXPECT_EQ(bound_memory(64 * kMiB), 64 * kMiB);
    EXPECT_THROW(std::vector<char>(4096 * kMiB), std::bad_alloc);
    EXPECT_EQ(std::vector<char>(32 * kMiB).size(), 32 * kMiB);
  });
}

TEST(MemoryBound, ALowerBoundStays) {
  in_a_child([] {
    bound_memory(64 * kMiB);
    const uint64_t bound = limit_now();
    bound_memory(8192 * kMiB);
    EXPECT_EQ(limit_now(), bound);
  });
}

TEST(MemoryBound, ChildrenAreNotBound) {
  in_a_child([] {
    const uint64_t before = limit_now();
    bound_memory(64 * kMiB);
    const uint64_t bound = limit_now();
    EXPECT_LT(bound, before);
    {
      const MemoryUnbound for_a_child;
      EXPECT_EQ(limit_now(), before);
    }
    EXPECT_EQ(limit_now(), bound);
  });
}

TEST(MemoryBound, TheMachineHasMemory) { EXPECT_GT(available_memory_bytes(), 64 * kMiB); }

}  // namespace
}  // namespace keydrome
