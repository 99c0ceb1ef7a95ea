// Tests the chase with which structure_bench measures the latency of the memory.
#include "structures/bench/latency.h"

#include <gtest/gtest.h>

namespace keydrome::bench {
namespace {

TEST(StructureBenchLatency, ACycleVisitsEachLineOnce) {
  for (const uint64_t count : {1u, 2u, 3u, 1000u}) {
    const MappedArray<ChaseLine> lines = make_cycle(count);
    uint64_t line = 0, steps = 0;
    do {
      line = lines[line].next;
      ASSERT_LT(line, count);
      ++steps;
    } while (line != 0 && steps <= count);
    EXPECT_EQ(steps, count);
  }
}

TEST(StructureBenchLatency, ALoadTakesTime) { EXPECT_GT(ns_per_load(1 << 12), 0.1); }

}  // namespace
}  // namespace keydrome::bench
