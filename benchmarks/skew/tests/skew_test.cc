// Tests the benchmark "skew": the schedule of hot keys, and how recovery is computed from windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
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

constexpr const char* kName = "skew";
constexpr std::size_t kParts = 6;

class SkewInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(SkewInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script =
      make_script(kName, GetParam(), 1, {{"records", 1'000}, {"lookups_per_s_max", 100'000}});
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, GetParam(), script));
  EXPECT_EQ(sum.transactions_planned, 4 * 2 * (101 + 5 * 201u));
  EXPECT_EQ(sum.get_hits, sum.gets);
  expect_faults_are_found(kName, GetParam(), script);
}

INSTANTIATE_TEST_SUITE_P(Skew, SkewInstance, ::testing::Values("shifting_range", "shifting_zipf"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

const script::PhaseScript& phase_of(const script::Script& script, const std::string& name) {
  return *std::ranges::find(script.phases, name, &script::PhaseScript::name);
}

// Returns the keys that the workload itself looks up in a part of a run.
std::vector<int64_t> keys_of(const script::Script& script, const std::string& run,
                             std::size_t part) {
  std::vector<int64_t> keys;
  testing::for_each_transaction(phase_of(script, run + "_" + std::to_string(part + 1)),
                                [&](std::span<const format::Op> ops) {
                                  for (const format::Op& op : ops.subspan(1, ops.size() - 2)) {
                                    EXPECT_EQ(op.code, format::OpCode::kGet);
                                    keys.push_back(script.pools.int64_keys[op.key]);
                                  }
                                });
  return keys;
}

// Expects that the keys are uniform in [first, first + width).
void expect_range(const std::vector<int64_t>& keys, int64_t first, int64_t width) {
  std::vector<double> counts(64);
  for (const int64_t key : keys) {
    ASSERT_GE(key, first);
    ASSERT_LT(key, first + width);
    ++counts[static_cast<std::size_t>((key - first) * 64 / width)];
  }
  EXPECT_GE(keys.size(), 8'000u);
  expect_uniform(counts);
}

// Follows the paper's schedule in units of 1/64 of the keys. Part 0 uses all keys and part 1 the
// range [16, 48). Each of the next four parts moves the range down by one unit. In the run without
// changes, all parts use the range of part 1.
TEST(Skew, TheRangeShiftsAsPublished) {
  const script::Script script =
      make_script(kName, "shifting_range", 2, {{"records", 6'400}, {"lookups_per_s_max", 200'000}});
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto shift = static_cast<int64_t>(part) - 1;
    expect_range(keys_of(script, "shifting", part), part == 0 ? 0 : 1'600 - 100 * shift,
                 part == 0 ? 6'400 : 3'200);
    expect_range(keys_of(script, "still", part), 1'600, 3'200);
  }
}

// The hottest rank gets 10.3 % of the lookups: 1 divided by the sum of 1 / rank^0.99 over all
// ranks. The key of this rank differs in each part.
TEST(Skew, TheHotKeysChange) {
  const script::Script script =
      make_script(kName, "shifting_zipf", 3, {{"records", 6'400}, {"lookups_per_s_max", 400'000}});
  std::map<int64_t, int> hottest;
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::vector<int64_t> keys = keys_of(script, "shifting", part);
    std::map<int64_t, double> counts;
    for (const int64_t key : keys) ++counts[key];
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& key) { return key.second; });
    EXPECT_NEAR(most->second / static_cast<double>(keys.size()),
                workload::GrayZipf(6'400, workload::GrayZipf::kTheta).probability(0), 0.01);
    ++hottest[most->first];
  }
  EXPECT_EQ(hottest.size(), kParts);
}

// A thread looks at the clock before its first transaction and after every hundredth.
TEST(Skew, PartsEndByTheClock) {
  const script::Script script =
      make_script(kName, "shifting_range", 4, {{"records", 640}, {"lookups_per_s_max", 100'000}});
  for (const std::string run : {"still", "shifting"}) {
    for (std::size_t part = 0; part < kParts; ++part) {
      const script::PhaseScript& phase = phase_of(script, run + "_" + std::to_string(part + 1));
      const uint64_t end_ns = part == 0 ? 10'000'000 : 20'000'000;
      EXPECT_EQ(phase.schedule.end_ns, end_ns);
      EXPECT_EQ(phase.schedule.window_ns, 100'000u);
      EXPECT_TRUE(script::ends_by_clock(phase));
      for (const std::vector<format::Op>& ops : phase.threads) {
        std::size_t looks = 0;
        for (const format::Op& op : ops) {
          if (op.code != format::OpCode::kUntil) continue;
          ++looks;
          EXPECT_EQ(format::ns_after_go(op), end_ns);
        }
        EXPECT_EQ(looks, part == 0 ? 2u : 3u);
      }
    }
  }
}

// Returns a part of 20 windows with a plateau of 100, which begins with these windows.
std::vector<uint64_t> part_with(std::vector<uint64_t> begin) {
  begin.resize(20, 100);
  return begin;
}

TEST(Skew, RecoveryIsTheTimeBelowThePlateau) {
  std::vector<uint64_t> part = part_with({40, 70, 94, 95});
  part[10] = 1;  // a slow window after the recovery must not count
  const Dip found = recovery(part);
  EXPECT_EQ(found.windows, 3u);
  EXPECT_DOUBLE_EQ(found.drop, 0.6);
  EXPECT_NEAR(found.lost, 0.6 + 0.3 + 0.06, 1e-9);
  EXPECT_EQ(recovery(part_with({})).windows, 0u);
}

TEST(Skew, NoiseIsTheWorstDipAnywhere) {
  std::vector<uint64_t> part = part_with({90});
  part[5] = part[6] = 80;
  part[8] = 50;
  const std::vector<std::vector<uint64_t>> parts = {part_with({}), part};
  const Dip found = noise(parts);
  EXPECT_EQ(found.windows, 2u);
  EXPECT_DOUBLE_EQ(found.drop, 0.5);
  EXPECT_DOUBLE_EQ(found.lost, 0.5);
  EXPECT_EQ(noise(std::vector<std::vector<uint64_t>>{}).windows, 0u);
}

// Only recoveries that lose more than twice what the noise loses are reported.
TEST(Skew, ARecoveryMustStandOutOfTheNoise) {
  const std::vector<std::vector<uint64_t>> parts = {part_with({0, 0, 0, 0}), part_with({50}),
                                                    part_with({40, 40}), part_with({0})};
  const Recoveries all = recoveries(parts, {.windows = 1, .drop = 0.2, .lost = 0.2});
  EXPECT_EQ(all.count, 3u);  // part 0 has no change before it
  EXPECT_EQ(all.worst.windows, 2u);
  EXPECT_EQ(all.worst.drop, 1);
  EXPECT_EQ(recoveries(parts, {.windows = 1, .drop = 0.5, .lost = 0.5}).count, 1u);
  EXPECT_EQ(recoveries(parts, {.windows = 9, .drop = 0.9, .lost = 0.9}).count, 0u);
}

// Numbers of commits come from the library's process, where a library can forge them. Numbers that
// contradict each other must do no harm.
TEST(Skew, PartsWithoutCommitsSayNothing) {
  const std::vector<std::vector<uint64_t>> parts = {{}, std::vector<uint64_t>(20), {}};
  EXPECT_EQ(noise(parts).windows, 0u);
  EXPECT_EQ(recoveries(parts, {}).count, 0u);
}

// A session on two threads, with imagined commits.
class Imagined {
 public:
  // By phase: the commits of each thread in each of the first ten windows.
  std::map<std::string, uint64_t> first_windows;
  uint64_t commits = 30;           // in each of the other windows
  uint64_t parts_committed = 100;  // transactions that each thread commits in a part

  void play() {
    const workload::Parameters parameters =
        testing::manifest_of(kName)
            .resolve("shifting_range", "smoke",
                     {{"threads", 2}, {"records", 640}, {"lookups_per_s_max", 100'000}})
            .value();
    const std::unique_ptr<workload::Workload> workload =
        testing::benchmark(kName).make("shifting_range");
    const script::Script script = workload->generate(parameters, 1, {}).value();
    script::Outcome outcome;
    std::vector<workload::PhaseMeasures> measures;
    for (const script::PhaseScript& phase : script.phases) {
      outcome.phases.push_back(outcome_of(phase));
      measures.push_back({.wall_ns = 5'000'000, .memory_bytes = {}});
    }
    workload->measure(script, outcome, measures, metrics);
    curve = workload->throughput(script, outcome).value();
  }

  workload::Metrics metrics;
  judge::Throughput curve;

 private:
  script::PhaseOutcome outcome_of(const script::PhaseScript& phase) const {
    script::PhaseOutcome outcome;
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      script::ThreadResult thread;
      thread.totals.committed[0] = parts_committed;
      if (phase.timed) {
        thread.totals.scheduled.assign(phase.schedule.end_ns / phase.schedule.window_ns, commits);
        const auto slow = first_windows.find(phase.name);
        if (slow != first_windows.end()) {
          std::fill_n(thread.totals.scheduled.begin(), 10, slow->second);
        }
      }
      outcome.threads.push_back(std::move(thread));
    }
    return outcome;
  }
};

TEST(Skew, ReportsTheWorstRecovery) {
  Imagined session;
  session.first_windows = {{"still_3", 27}, {"shifting_3", 10}, {"shifting_5", 25}};
  session.play();
  EXPECT_DOUBLE_EQ(session.metrics["window_ms"], 0.1);
  EXPECT_DOUBLE_EQ(session.metrics["noise_ms"], 1);
  EXPECT_DOUBLE_EQ(session.metrics["noise_drop"], 1 - 27.0 / 30);
  EXPECT_EQ(session.metrics["changes_noticed"], 1);
  EXPECT_DOUBLE_EQ(session.metrics["recovery_ms"], 1);
  EXPECT_DOUBLE_EQ(session.metrics["recovery_drop"], 1 - 10.0 / 30);
  // The rate is per scheduled time, because the clock of the referee, the trusted process outside
  // the library's sandbox, shows a shorter time.
  EXPECT_NEAR(session.metrics["lookups_per_s"], 6 * 2 * 100 * 10 / 0.11, 1);
  EXPECT_EQ(session.curve.window_ns, 100'000u);
  ASSERT_EQ(session.curve.committed.size(), 100 + 5 * 200u);
  EXPECT_EQ(session.curve.committed[99], 60u);
  EXPECT_EQ(session.curve.committed[300], 20u);
}

TEST(Skew, ReportsNoRecoveryWithinTheNoise) {
  Imagined session;
  session.first_windows = {{"still_3", 10}, {"shifting_3", 10}};
  session.play();
  EXPECT_EQ(session.metrics["changes_noticed"], 0);
  EXPECT_FALSE(session.metrics.contains("recovery_ms"));
  EXPECT_FALSE(session.metrics.contains("recovery_drop"));
}

// If a library is so fast that the threads reach the end of their programs, the part ends before
// its time has passed.
TEST(Skew, ReportsNoRecoveryIfAProgramWasTooShort) {
  Imagined session;
  session.first_windows = {{"shifting_3", 10}};
  session.parts_committed = 201;
  session.play();
  EXPECT_FALSE(session.metrics.contains("changes_noticed"));
  EXPECT_FALSE(session.metrics.contains("recovery_ms"));
  // All threads ran out, so the parts lasted as long as the referee's clock shows.
  EXPECT_NEAR(session.metrics["lookups_per_s"], 6 * 2 * 201 * 10 / 0.03, 1);
}

TEST(Skew, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  const workload::ParameterValues small = {{"records", 640}, {"lookups_per_s_max", 10'000}};
  EXPECT_EQ(workload::fingerprint(make_script(kName, "shifting_range", 6, small)),
            workload::fingerprint(make_script(kName, "shifting_range", 6, small)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "shifting_range", 6, small)),
            workload::fingerprint(make_script(kName, "shifting_range", 7, small)));
}

}  // namespace
}  // namespace keydrome::skew
