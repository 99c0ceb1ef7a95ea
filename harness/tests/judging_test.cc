// Tests the verdict for a plan (the description of one repetition of a benchmark) and a referee
// (the program that plays it) with different versions of a benchmark.
#include "harness/referee/judging/judging.h"

#include <gtest/gtest.h>

#include <string>

namespace keydrome {
namespace {

TEST(StaleVerdict, ANewerPlanNeedsANewerHarness) {
  const RunVerdict verdict = stale_verdict("tatp", 3, 2);
  EXPECT_EQ(verdict.name, "infrastructure");
  EXPECT_EQ(verdict.reason,
            "stale harness: the plan asks for version 3 of the benchmark tatp, but this referee "
            "has version 2; build the harness again with ./dev build, then repeat the run");
}

// If the referee is newer than the plan, building the harness again does not help.
TEST(StaleVerdict, AnOlderPlanMustBeMadeAgain) {
  const RunVerdict verdict = stale_verdict("tatp", 1, 2);
  EXPECT_EQ(verdict.name, "infrastructure");
  EXPECT_EQ(verdict.reason,
            "stale plan: the plan asks for version 1 of the benchmark tatp, but this referee has "
            "version 2; make a new plan from the current benchmark.json, or, if that file has the "
            "plan's version, run ./dev build");
}

}  // namespace
}  // namespace keydrome
