// Tests the benchmark "skew": the schedule of hot keys, and how recovery is computed from windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/kit/workload/fingerprint.h"
#include "benchmarks/skew/recovery.h"

namespace keydrome::skew {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::expect_uniform;
using testing::make_script;
using testing::timed_phase;

constexpr const char* kName = "skew";

class SkewInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(SkewInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script =
      make_script(kName, GetParam(), 1, {{"records", 1'000}, {"lookups_per_part", 200}});
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, GetParam(), script));
  EXPECT_EQ(sum.transactions_planned, 4 * 6 * 200u);
  EXPECT_EQ(sum.get_hits, sum.gets);
  expect_faults_are_found(kName, GetParam(), script);
}

INSTANTIATE_TEST_SUITE_P(Skew, SkewInstance, ::testing::Values("shifting_range", "shifting_zipf"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Returns the keys that are looked up, by part. Each part except the first begins with a wait.
std::vector<std::vector<int64_t>> keys_by_part(const script::Script& script) {
  std::vector<std::vector<int64_t>> parts(6);
  for (const std::vector<format::Op>& ops : timed_phase(script).threads) {
    std::size_t part = 0;
    bool stream = false;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kWait) ++part;
      if (op.code == format::OpCode::kBegin)
        stream = static_cast<format::Kind>(op.kind) == format::Kind::kStream;
      if (op.code == format::OpCode::kGet && stream) {
        parts.at(part).push_back(script.pools.int64_keys[op.key]);
      }
    }
    EXPECT_EQ(part, 5u);
  }
  return parts;
}

// Follows the paper's schedule in units of 1/64 of the keys. Part 0 uses all keys and part 1 the
// range [16, 48). Each of the next four parts moves the range down by one unit. Keys are uniform
// within the range.
TEST(Skew, TheRangeShiftsAsPublished) {
  const script::Script script =
      make_script(kName, "shifting_range", 2, {{"records", 6'400}, {"lookups_per_part", 4'000}});
  const std::vector<std::vector<int64_t>> parts = keys_by_part(script);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto shift = static_cast<int64_t>(part);
    const int64_t first = part == 0 ? 0 : 1'600 - 100 * (shift - 1);
    const int64_t width = part == 0 ? 6'400 : 3'200;
    std::vector<double> counts(64);
    for (const int64_t key : parts[part]) {
      ASSERT_GE(key, first) << part;
      ASSERT_LT(key, first + width) << part;
      ++counts[static_cast<std::size_t>((key - first) * 64 / width)];
    }
    EXPECT_EQ(parts[part].size(), 16'000u);
    expect_uniform(counts);
  }
}

// The hottest rank gets 1 / zeta of the lookups, here 10.3 %. Its key differs in each part.
TEST(Skew, TheHotKeysChange) {
  const script::Script script =
      make_script(kName, "shifting_zipf", 3, {{"records", 6'400}, {"lookups_per_part", 4'000}});
  std::map<int64_t, int> hottest;
  for (const std::vector<int64_t>& keys : keys_by_part(script)) {
    std::map<int64_t, double> counts;
    for (const int64_t key : keys) ++counts[key];
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    EXPECT_NEAR(most->second / 16'000,
                workload::GrayZipf(6'400, workload::GrayZipf::kTheta).probability(0), 0.01);
    ++hottest[most->first];
  }
  EXPECT_EQ(hottest.size(), 6u);
}

TEST(Skew, RecoveryIsTheTimeBelowThePlateau) {
  // The workload changes in windows 10 and 30. Three slow windows follow window 10. No slow window
  // follows window 30.
  std::vector<uint64_t> windows(51, 100);
  windows[10] = 10;  // partly before the change, partly after
  windows[11] = 40;
  windows[12] = 70;
  windows[13] = 94;
  windows[14] = 95;
  windows[20] = 1;  // a slow window after the recovery is noise and must not count
  windows[30] = 20;
  const std::vector<std::size_t> changes = {10, 30};
  const auto found = skew::recoveries(windows, changes);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ(found->at(0).windows, 3u);
  EXPECT_DOUBLE_EQ(found->at(0).drop, 0.6);
  EXPECT_EQ(found->at(1).windows, 0u);
  EXPECT_EQ(found->at(1).drop, 0);
}

TEST(Skew, TooFewWindowsSayNothing) {
  const std::vector<std::size_t> changes = {10, 17};
  EXPECT_FALSE(skew::recoveries(std::vector<uint64_t>(51, 100), changes).has_value());
  EXPECT_FALSE(skew::recoveries(std::vector<uint64_t>{}, changes).has_value());
  EXPECT_FALSE(skew::recoveries(std::vector<uint64_t>(12, 100), changes).has_value());
}

// Windows and counts come from the jail, so they may contradict each other.
TEST(Skew, ChangesAfterTheLastWindowSayNothing) {
  const std::vector<std::size_t> changes = {10, 255};
  EXPECT_FALSE(skew::recoveries(std::vector<uint64_t>(20, 100), changes).has_value());
}

TEST(Skew, TheWindowOfACommitIsWhereItsCountIsReached) {
  const std::vector<uint64_t> windows = {5, 0, 5, 5};
  EXPECT_EQ(skew::window_of(windows, 5), 0u);
  EXPECT_EQ(skew::window_of(windows, 6), 2u);
  EXPECT_EQ(skew::window_of(windows, 15), 3u);
  EXPECT_EQ(skew::window_of(windows, 99), 3u);
}

// Computes the metrics from reported windows. The first fifth of part 3 runs at a third of the
// usual rate.
TEST(Skew, RecoveryComesFromTheThreadsOwnWindows) {
  const workload::ParameterValues small = {
      {"threads", 2}, {"records", 640}, {"lookups_per_part", 300}};
  const script::Script script = make_script(
      kName, "shifting_range", 4, small, {.stripes = false, .canaries = false, .evidence = false});
  script::Outcome outcome = expect_right_is_not_accused(kName, "shifting_range", script);
  for (script::ThreadResult& thread : outcome.phases[2].threads) {
    script::ThreadTotals& totals = thread.totals;
    totals.windows.fill(0);
    totals.window_shift = 20;
    std::size_t window = 0;
    for (int part = 0; part < 6; ++part) {
      for (int left = 300; left > 0; ++window) {
        const int count = part == 3 && left > 240 ? 10 : 30;
        totals.windows[window] = static_cast<uint64_t>(std::min(count, left));
        left -= count;
      }
    }
  }
  workload::Metrics metrics;
  testing::benchmark(kName).make("shifting_range")->measure(script, outcome, {}, metrics);
  ASSERT_TRUE(metrics.contains("recovery_ms"));
  const double window_ms = 1'048'576 / 1e6;
  EXPECT_DOUBLE_EQ(metrics["window_ms"], window_ms);
  EXPECT_DOUBLE_EQ(metrics["recovery_ms"],
                   5 * window_ms);  // six slow windows, minus the window of the change
  EXPECT_DOUBLE_EQ(metrics["recovery_drop"], 1 - 10.0 / 30);
}

TEST(Skew, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  const workload::ParameterValues small = {{"records", 640}, {"lookups_per_part", 100}};
  EXPECT_EQ(workload::fingerprint(make_script(kName, "shifting_range", 6, small)),
            workload::fingerprint(make_script(kName, "shifting_range", 6, small)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "shifting_range", 6, small)),
            workload::fingerprint(make_script(kName, "shifting_range", 7, small)));
}

}  // namespace
}  // namespace keydrome::skew
