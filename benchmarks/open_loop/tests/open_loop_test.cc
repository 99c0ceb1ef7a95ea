// Tests the benchmark "open_loop": the operations, the schedule of arrivals and the bisection of
// rates.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/script/histogram.h"
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
constexpr std::size_t kFirstTimed = 2;  // the phases create and load come first

class OpenLoopInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(OpenLoopInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script = make_script(kName, GetParam(), 1, {{"records", 1'000}});
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, GetParam(), script));
  EXPECT_EQ(sum.transactions_planned, 14 * 1'000u);
  EXPECT_EQ(sum.transactions_completed, sum.transactions_planned);
  expect_faults_are_found(kName, GetParam(), script);
}

INSTANTIATE_TEST_SUITE_P(OpenLoop, OpenLoopInstance, ::testing::Values("int64_a", "a"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Half of the transactions read a record. The others delete a record and insert it again. Some
// 3.8 % of all use the hottest item, as in YCSB.
TEST(OpenLoop, TransactionsAreThoseOfYcsbA) {
  const script::Script script =
      make_script(kName, "int64_a", 3, {{"records", 5'000}, {"arrivals_per_step", 20'000}});
  double reads = 0, all = 0;
  std::map<uint32_t, double> items;
  testing::for_each_transaction(testing::timed_phase(script), [&](std::span<const format::Op> ops) {
    ++all;
    ++items[ops[1].key];
    if (ops.size() == 3) {
      EXPECT_EQ(ops[1].code, format::OpCode::kGet);
      ++reads;
      return;
    }
    ASSERT_EQ(ops.size(), 4u);
    EXPECT_EQ(ops[1].code, format::OpCode::kDeleteKey);
    EXPECT_EQ(ops[2].code, format::OpCode::kInsert);
    EXPECT_EQ(ops[2].key, ops[1].key);
  });
  EXPECT_EQ(all, 20'000);
  EXPECT_NEAR(reads / all, 0.5, 0.02);
  const auto hottest =
      std::ranges::max_element(items, {}, [](const auto& item) { return item.second; });
  EXPECT_NEAR(hottest->second / all, 0.038, 0.006);
}

uint64_t arrival_of(const format::Op& op) { return uint64_t{op.payload} << 32 | op.argument; }

// Returns the arrivals of a thread's transactions, in ns after the start of the phase.
std::vector<uint64_t> arrivals_of(const std::vector<format::Op>& ops) {
  std::vector<uint64_t> arrivals;
  for (const format::Op& op : ops) {
    if (op.code == format::OpCode::kArrive) arrivals.push_back(arrival_of(op));
  }
  return arrivals;
}

// Returns the rate of the schedule of a phase.
double rate_of(const script::PhaseScript& phase) {
  double arrivals = 0;
  for (const std::vector<format::Op>& ops : phase.threads) {
    arrivals += static_cast<double>(arrivals_of(ops).size());
  }
  return arrivals * 1e9 / static_cast<double>(phase.schedule.end_ns - kHeadStartNs);
}

// Each thread has its own Poisson process with exponential gaps. The distribution function of the
// gaps transforms them to uniform numbers. The gaps stay exponential after the phase has been
// adapted to a rate.
TEST(OpenLoop, TransactionsArriveAsAPoissonProcess) {
  constexpr uint64_t kThreads = 4, kArrivals = 20'000;
  const workload::Parameters parameters =
      testing::manifest_of(kName)
          .resolve("int64_a", "smoke", {{"records", 100}, {"arrivals_per_step", kArrivals}})
          .value();
  const std::unique_ptr<workload::Workload> workload = testing::benchmark(kName).make("int64_a");
  script::Script script = workload->generate(parameters, 2, {}).value();
  workload->adapt_phase(script, kFirstTimed, {});
  const script::PhaseScript& phase = script.phases[kFirstTimed];
  EXPECT_EQ(phase.name, "160000_per_s");
  EXPECT_NEAR(rate_of(phase), 160'000, 1);
  const double per_ns = 160'000.0 / kThreads / 1e9;
  for (const std::vector<format::Op>& ops : phase.threads) {
    std::vector<double> distribution(30);
    uint64_t last = kHeadStartNs;
    const std::vector<uint64_t> arrivals = arrivals_of(ops);
    EXPECT_EQ(arrivals.size(), kArrivals / kThreads);
    for (const uint64_t at : arrivals) {
      ASSERT_GE(at, last);
      ASSERT_LE(at, phase.schedule.end_ns);
      const double share = -std::expm1(-static_cast<double>(at - last) * per_ns);
      ++distribution[static_cast<std::size_t>(share * static_cast<double>(distribution.size()))];
      last = at;
    }
    expect_uniform(distribution);
  }
}

// A session with an imagined library. `in_time` decides whether the library keeps up with a rate.
struct Imagined {
  std::string instance = "int64_a";
  workload::ParameterValues overrides{};
  // Returns whether the try with this number (0 or 1) at this rate is in time.
  std::function<bool(double rate, int number)> in_time;
  double throughput = 1e9;  // transactions per second; so many do not limit the result

  // Plays all phases. Returns the names of the timed ones.
  std::vector<std::string> play() {
    const workload::Parameters parameters =
        testing::manifest_of(kName).resolve(instance, "smoke", overrides).value();
    const std::unique_ptr<workload::Workload> workload = testing::benchmark(kName).make(instance);
    script::Script script = workload->generate(parameters, 1, {}).value();
    script::Outcome outcome;
    std::vector<workload::PhaseMeasures> measures;
    std::vector<std::string> names;
    for (uint32_t p = 0; p < script.phases.size(); ++p) {
      workload->adapt_phase(script, p, outcome);
      const script::PhaseScript& phase = script.phases[p];
      outcome.phases.push_back(outcome_of(phase, names.size()));
      measures.push_back({.wall_ns = 5'000'000, .memory_bytes = {}});
      if (!phase.timed) continue;
      names.push_back(phase.name);
      double arrivals =
          rate_of(phase) * static_cast<double>(phase.schedule.end_ns - kHeadStartNs) / 1e9;
      measures.back().wall_ns = kHeadStartNs + static_cast<uint64_t>(arrivals / throughput * 1e9);
    }
    workload->measure(script, outcome, measures, metrics);
    classes = script.class_names;
    return names;
  }

  workload::Metrics metrics{};
  std::vector<std::string> classes{};

 private:
  // Returns what the threads would report: 1 of 100 transactions is late unless all are in time.
  script::PhaseOutcome outcome_of(const script::PhaseScript& phase, std::size_t timed) const {
    script::PhaseOutcome outcome;
    const bool good = phase.timed && in_time(rate_of(phase), static_cast<int>(timed % 2));
    for (const std::vector<format::Op>& ops : phase.threads) {
      script::ThreadResult thread;
      const auto arrivals = static_cast<uint32_t>(arrivals_of(ops).size());
      const std::size_t step = std::min<std::size_t>(timed / 2, 6);
      thread.totals.committed[step] = arrivals;
      thread.totals.late[step] = good ? 0 : arrivals / 100;
      thread.totals.latency[step].resize(script::kHistogramBuckets);
      thread.totals.latency[step][script::histogram_bucket(1'000)] = arrivals;
      outcome.threads.push_back(std::move(thread));
    }
    return outcome;
  }
};

// The highest rate is 2^6 times the lowest. Seven halvings on a logarithmic scale leave a range
// whose ends differ by a factor of 2^(6/128).
TEST(OpenLoop, ABisectionFindsTheKnee) {
  for (const double knee : {21'000.0, 77'777.0, 500'000.0, 1'250'000.0}) {
    Imagined library{.in_time = [&](double rate, int) { return rate <= knee; }};
    const std::vector<std::string> names = library.play();
    ASSERT_EQ(names.size(), 14u);
    EXPECT_EQ(names[0], "160000_per_s");
    EXPECT_EQ(names[1], "160000_per_s_again");
    EXPECT_EQ(names[2], knee < 160'000 ? "56569_per_s" : "452548_per_s");
    EXPECT_EQ(library.classes[1] + "_again", names[3]);
    EXPECT_LE(library.metrics["sustained_per_s"], knee);
    EXPECT_GE(library.metrics["sustained_per_s"], knee / std::exp2(6.0 / 128) - 1);
  }
}

// A pause of the machine spoils only one of the two tries of a rate, and the other still counts.
TEST(OpenLoop, ARateCountsIfOneOfItsTriesDoes) {
  constexpr double kKnee = 500'000;
  Imagined quiet{.in_time = [](double rate, int) { return rate <= kKnee; }};
  quiet.play();
  for (const int spoilt : {0, 1}) {
    Imagined library{
        .in_time = [&](double rate, int number) { return rate <= kKnee && number != spoilt; }};
    library.play();
    EXPECT_EQ(library.metrics["sustained_per_s"], quiet.metrics["sustained_per_s"]);
  }
}

// If no rate counts, the result is an estimate below the lowest one: here 99 % of the arrivals were
// in time, and 99.5 % are needed.
TEST(OpenLoop, NoRateCountsForASlowLibrary) {
  Imagined library{.overrides = {{"arrivals_per_step", 4'000}},
                   .in_time = [](double, int) { return false; }};
  const std::vector<std::string> names = library.play();
  EXPECT_NEAR(library.metrics["sustained_per_s"], std::stod(names.back()) * 0.99 / 0.995, 1);
  EXPECT_FALSE(library.metrics.contains("knee_p99_ms"));
}

// If a library forges short latencies, its sustained rate is still at most its throughput.
TEST(OpenLoop, TheSustainedRateIsAtMostTheThroughput) {
  Imagined library{.in_time = [](double, int) { return true; }, .throughput = 50'000};
  library.play();
  EXPECT_NEAR(library.metrics["sustained_per_s"], 50'000, 10);
}

// A percentile is reported only if at least 1,000 latencies are longer than it.
TEST(OpenLoop, PercentilesSayHowManySamplesTheyRestOn) {
  const auto always = [](double, int) { return true; };
  Imagined few{.in_time = always};
  few.play();
  EXPECT_EQ(few.metrics["samples_beyond_p99"], 10);
  EXPECT_EQ(few.metrics["samples_beyond_p999"], 1);
  EXPECT_FALSE(few.metrics.contains("knee_p99_ms"));
  Imagined many{.overrides = {{"arrivals_per_step", 100'000}}, .in_time = always};
  many.play();
  EXPECT_EQ(many.metrics["samples_beyond_p99"], 1'000);
  EXPECT_NEAR(many.metrics["knee_p99_ms"], 0.001, 0.0001);
  EXPECT_FALSE(many.metrics.contains("knee_p999_ms"));
}

// If capacity_per_s is set, the rates of the steps are fixed percentages of it. The results do not
// change them.
TEST(OpenLoop, StepsAskForSharesOfAKnownCapacity) {
  Imagined library{.overrides = {{"capacity_per_s", 12'000}},
                   .in_time = [](double rate, int) { return rate < 9'000; }};
  library.play();
  library.classes.resize(7);
  EXPECT_EQ(library.classes,
            (std::vector<std::string>{"2400_per_s", "6000_per_s", "8400_per_s", "9600_per_s",
                                      "10800_per_s", "11400_per_s", "12000_per_s"}));
  EXPECT_EQ(library.metrics["sustained_per_s"], 8'400);
}

// Returns the message with which the benchmark refuses the parameters.
std::string refusal(const workload::ParameterValues& overrides) {
  const workload::Parameters parameters =
      testing::manifest_of(kName).resolve("int64_a", "smoke", overrides).value();
  const auto script = testing::benchmark(kName).make("int64_a")->generate(parameters, 1, {});
  return script.ok() ? "" : script.error().message;
}

TEST(OpenLoop, RefusesRatesThatCannotBeSearched) {
  EXPECT_NE(refusal({{"rate_lowest_per_s", 800'000}}).find("lower rate_lowest_per_s"),
            std::string::npos);
  EXPECT_NE(refusal({{"capacity_per_s", 99}}).find("at least 100"), std::string::npos);
  EXPECT_EQ(refusal({{"capacity_per_s", 100}}), "");
}

constexpr Bounds kBounds{.p99_ns = 100'000, .p999_ns = 1'000'000};

Try within() {
  return {
      .arrivals = 1'000'000, .committed_in_time = 995'000, .p99_ns = 100'000, .p999_ns = 1'000'000};
}

TEST(Knee, ARateCountsWithinAllLimits) {
  EXPECT_EQ(margin(within(), kBounds), 1);
  Try slow = within();
  slow.p99_ns = 200'000;
  EXPECT_EQ(margin(slow, kBounds), 0.5);
  slow = within();
  slow.p999_ns = 4'000'000;
  EXPECT_EQ(margin(slow, kBounds), 0.25);
  slow = within();
  slow.committed_in_time = 199'000;
  EXPECT_NEAR(margin(slow, kBounds), 0.2, 1e-9);
}

TEST(Knee, PercentilesOfTooFewSamplesDoNotCount) {
  Try few = within();
  few.p99_ns = few.p999_ns = std::nullopt;
  EXPECT_EQ(margin(few, kBounds), 1);
}

TEST(Knee, TheNextRateIsTheMiddleOfWhatIsLeft) {
  const Range range{.lowest_per_s = 1'000, .highest_per_s = 16'000};
  EXPECT_EQ(next_rate_per_s(range, {}), 4'000u);
  const std::array steps = {Step{4'000, 1, {}}, Step{8'000, 0.9, {}}};
  EXPECT_EQ(next_rate_per_s(range, std::span(steps).first(1)), 8'000u);
  EXPECT_EQ(next_rate_per_s(range, steps), 5'657u);
}

TEST(Knee, IsTheHighestRateThatCounts) {
  const std::array steps = {Step{4'000, 1, {}}, Step{8'000, 0.9, {}}, Step{5'657, 1, {}}};
  EXPECT_EQ(knee_per_s(steps), 5'657);
  ASSERT_NE(knee(steps), nullptr);
  EXPECT_EQ(knee(steps)->rate_per_s, 5'657u);
  const std::array none = {Step{4'000, 0.1, {}}, Step{2'000, 0.5, {}}};
  EXPECT_EQ(knee_per_s(none), 1'000);
  EXPECT_EQ(knee(none), nullptr);
}

}  // namespace
}  // namespace keydrome::open_loop
