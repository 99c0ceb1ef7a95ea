// Tests the benchmark "open_loop": the schedule of arrivals and the sustained rate.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/open_loop/knee.h"

namespace keydrome::open_loop {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::expect_uniform;
using testing::make_script;

constexpr const char* kName = "open_loop";
constexpr uint64_t kHeadStartNs = 5'000'000;

class OpenLoopInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(OpenLoopInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script =
      make_script(kName, GetParam(), 1, {{"records", 1'000}, {"step_ms", 10}});
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, GetParam(), script));
  EXPECT_GT(sum.transactions_planned, 1'000u);
  EXPECT_EQ(sum.transactions_completed, sum.transactions_planned);
  EXPECT_EQ(sum.get_hits, sum.gets);
  expect_faults_are_found(kName, GetParam(), script);
}

INSTANTIATE_TEST_SUITE_P(OpenLoop, OpenLoopInstance, ::testing::Values("searches", "mixed"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Returns the arrivals of a thread's transactions, in ns after the start of the phase.
std::vector<uint64_t> arrivals_of(const std::vector<format::Op>& ops) {
  std::vector<uint64_t> arrivals;
  for (const format::Op& op : ops) {
    if (op.code != format::OpCode::kArrive) continue;
    arrivals.push_back(uint64_t{op.payload} << 32 | op.argument);
  }
  return arrivals;
}

// If capacity_per_s is set, the steps use the published percentages of it.
TEST(OpenLoop, StepsAskForSharesOfAKnownCapacity) {
  const script::Script script = make_script(kName, "mixed", 1, {{"capacity_per_s", 12'000}});
  std::vector<std::string> names;
  for (const script::PhaseScript& phase : script.phases) {
    if (phase.timed) names.push_back(phase.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"2400_per_s", "6000_per_s", "8400_per_s", "9600_per_s",
                                             "10800_per_s", "11400_per_s", "12000_per_s"}));
}

// Each step has twice the rate of the previous one. Each thread has its own Poisson process with
// exponential gaps. The distribution function of the gaps transforms them to uniform numbers.
TEST(OpenLoop, TransactionsArriveAsAPoissonProcess) {
  constexpr uint64_t kThreads = 4, kStepNs = 40'000'000;
  const script::Script script = make_script(kName, "searches", 2, {{"rate_first_per_s", 10'000}});
  uint64_t rate = 10'000;
  for (const script::PhaseScript& phase : script.phases) {
    if (!phase.timed) continue;
    EXPECT_EQ(phase.name, std::to_string(rate) + "_per_s");
    const double per_ns = static_cast<double>(rate) / kThreads / 1e9;
    double count = 0;
    std::vector<double> distribution(30);
    for (const std::vector<format::Op>& ops : phase.threads) {
      uint64_t last = kHeadStartNs;
      for (const uint64_t at : arrivals_of(ops)) {
        ASSERT_GE(at, last);
        ASSERT_LT(at, kHeadStartNs + kStepNs);
        const double share = -std::expm1(-static_cast<double>(at - last) * per_ns);
        ++distribution[static_cast<std::size_t>(share * static_cast<double>(distribution.size()))];
        last = at;
        ++count;
      }
    }
    const double expected = static_cast<double>(rate) * kStepNs / 1e9;
    EXPECT_NEAR(count, expected, 4 * std::sqrt(expected)) << phase.name;
    if (expected > 3'000) expect_uniform(distribution);  // short steps contain no long gaps
    rate *= 2;
  }
  EXPECT_EQ(rate, 10'000u << 7);
}

TEST(OpenLoop, RefusesASweepThatIsTooLong) {
  const workload::Manifest manifest = testing::manifest_of(kName);
  const workload::Parameters parameters =
      manifest.resolve("searches", "smoke", {{"rate_first_per_s", 100'000'000}}).value();
  const auto script = testing::benchmark(kName).make("searches")->generate(parameters, 1, {});
  ASSERT_FALSE(script.ok());
  EXPECT_NE(script.error().message.find("lower rate_first_per_s"), std::string::npos);
}

constexpr uint64_t kBoundNs = 1'000'000;

constexpr double kFast = 1e9;  // a throughput that limits nothing

TEST(Knee, LiesBetweenTheStepWithinAndTheOneBeyond) {
  const std::array steps = {Step{1'000, 10'000, kFast}, Step{2'000, 100'000, kFast},
                            Step{4'000, 10'000'000, kFast}, Step{8'000, 100'000'000, kFast}};
  // On logarithmic scales, 1 ms is the middle of 0.1 and 10 ms, and 2,828 is the middle of 2,000
  // and 4,000.
  EXPECT_NEAR(sustained_per_s(steps, kBoundNs), 2'000 * std::sqrt(2.0), 0.01);
}

TEST(Knee, IsTheLastRateWhenAllStepsAreWithin) {
  const std::array steps = {Step{1'000, 10'000, kFast}, Step{2'000, kBoundNs, kFast}};
  EXPECT_EQ(sustained_per_s(steps, kBoundNs), 2'000);
}

TEST(Knee, IsBelowTheFirstRateWhenEvenThatIsTooMuch) {
  const std::array steps = {Step{1'000, 4 * kBoundNs, kFast}, Step{2'000, 8 * kBoundNs, kFast}};
  EXPECT_EQ(sustained_per_s(steps, kBoundNs), 250);
}

TEST(Knee, IgnoresADisturbanceBelowASustainedRate) {
  const std::array steps = {Step{1'000, 5 * kBoundNs, kFast}, Step{2'000, kBoundNs / 10, kFast},
                            Step{4'000, 10 * kBoundNs, kFast}};
  EXPECT_NEAR(sustained_per_s(steps, kBoundNs), 2'000 * std::sqrt(2.0), 0.01);
}

// A library that makes its latencies look short gains no more than its throughput.
TEST(Knee, IsAtMostTheThroughput) {
  const std::array steps = {Step{1'000, 1, 1'000}, Step{2'000, 1, 1'500}, Step{4'000, 1, 1'400}};
  EXPECT_EQ(sustained_per_s(steps, kBoundNs), 1'500);
}

}  // namespace
}  // namespace keydrome::open_loop
