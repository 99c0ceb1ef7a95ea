// Tests the bound of the memory of the referee, the process that runs a benchmark: allocations
// beyond it fail, and child processes are not bound.
#include "harness/referee/machine/memory_bound.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>
#include <utility>
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

#ifndef KEYDROME_SANITIZED  // sanitizers replace the allocator
// Allocates and writes 64 MiB in blocks that malloc takes from its heap. Then frees all blocks
// except the last one. The last block is at the end of the heap, so the heap cannot return the
// freed memory to the kernel.
void use_heap() {
  std::vector<std::unique_ptr<char[]>> blocks(1024);
  for (std::unique_ptr<char[]>& block : blocks) block = std::make_unique<char[]>(64 << 10);
  static std::vector<std::unique_ptr<char[]>> remaining;
  remaining.push_back(std::move(blocks.back()));
}

// Starts another process, because the heaps of earlier tests would remain in a forked process.
TEST(MemoryBound, ThreadsUseMemoryAgainThatOthersHaveFreed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto check = [] {
    share_heap();
    const uint64_t before = peak_memory_bytes();
    use_heap();
    std::jthread(use_heap).join();
    const uint64_t used_mib = (peak_memory_bytes() - before) >> 20;
    std::fprintf(stderr, "used %s", used_mib > 60 && used_mib < 80 ? "once" : "twice");
    std::_Exit(0);
  };
  EXPECT_EXIT(check(), ::testing::ExitedWithCode(0), "used once");
}
#endif

TEST(MemoryBound, TheMachineHasMemory) { EXPECT_GT(available_memory_bytes(), 64 * kMiB); }

}  // namespace
}  // namespace keydrome
