// Tests the benchmark "ycsb": mixes, distributions, scan lengths, auto-commit mode, and that faulty
// indexes are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/ycsb/item_chooser.h"
#include "benchmarks/ycsb/mixes.h"

namespace keydrome::ycsb {
namespace {

using testing::Faults;
using testing::play;
using testing::test_index;
using testing::text_of;

const workload::BenchmarkEntry& entry() {
  for (const workload::BenchmarkEntry& candidate : workload::benchmark_registry()) {
    if (candidate.name == "ycsb") return candidate;
  }
  fail(KEYDROME_HERE, "ycsb is not registered");
}

workload::Manifest manifest() { return workload::Manifest::parse(entry().manifest_json).value(); }

script::Script make_script(const std::string& instance, uint64_t seed,
                           workload::ParameterValues overrides = {}) {
  overrides.try_emplace("records", 2000);
  overrides.try_emplace("operations_per_thread", 1000);
  const workload::Parameters parameters = manifest().resolve(instance, "smoke", overrides).value();
  return entry().make(instance)->generate(parameters, seed, {}).value();
}

const script::PhaseScript& run_phase(const script::Script& script) {
  return *std::find_if(script.phases.begin(), script.phases.end(),
                       [](const script::PhaseScript& phase) { return phase.timed; });
}

TEST(Ycsb, EveryInstanceHasAMix) {
  std::set<std::string> mixes, instances;
  for (const ycsb::Mix& mix : ycsb::kMixes) {
    mixes.emplace(mix.instance);
    EXPECT_EQ(mix.read + mix.update + mix.insert + mix.scan + mix.read_modify_write, 100u);
  }
  for (const auto& [name, instance] : manifest().instances) instances.insert(name);
  EXPECT_EQ(mixes, instances);
}

class YcsbInstance : public ::testing::TestWithParam<ycsb::Mix> {
 protected:
  std::string name() const { return std::string(GetParam().instance); }
  // Returns the metric operations_per_s of a run that took one second.
  double operations_in_a_second(const script::Script& script,
                                const script::Outcome& outcome) const {
    workload::PhaseMeasures second;
    second.wall_ns = 1'000'000'000;
    const std::vector<workload::PhaseMeasures> measures(script.phases.size(), second);
    workload::Metrics metrics;
    entry().make(name())->measure(script, outcome, measures, metrics);
    return metrics.at("operations_per_s");
  }
};

TEST_P(YcsbInstance, ACorrectIndexPasses) {
  const script::Script script = make_script(name(), 1, {{"records", 800}});
  // The test index returns DEADLOCK for every 4001st call. The scan of all records of an index at
  // the end is one transaction, which must fit between two DEADLOCKs.
  const script::Outcome outcome = play(script, test_index({.deadlock_every = 4001}));
  judge::Findings findings;
  judge::judge_script(script, outcome, findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
  const judge::Totals sum = judge::totals(script, outcome);
  EXPECT_EQ(sum.transactions_completed, 4000u);
  EXPECT_NEAR(operations_in_a_second(script, outcome), 4000, 1e-6);
  EXPECT_GT(sum.deadlocks, 0u);
  // Each of the four threads has loaded two more records, for its stripe (private-key check).
  EXPECT_EQ(sum.records_start, 800u + 4 * 2);
}

TEST_P(YcsbInstance, AFaultyIndexIsFound) {
  // Timing decides which calls fail, and some lost writes are overwritten before they are read. A
  // run has about forty faults, so some are certainly visible.
  for (const Faults& faults : {Faults{.success_only = true}, Faults{.drops_every = 100},
                               Faults{.changes_payload_every = 100}}) {
    const script::Script script = make_script(name(), 2);
    judge::Findings findings;
    judge::judge_script(script, play(script, test_index(faults)), findings);
    EXPECT_TRUE(findings.failed()) << "drops_every " << faults.drops_every
                                   << ", changes_payload_every " << faults.changes_payload_every;
  }
}

// For a bare structure, a data structure without transactions, one thread makes all changes by
// auto-commit calls, and transactions only read.
TEST_P(YcsbInstance, AutoCommitNeedsNoTransactionThatChanges) {
  const script::Script script = make_script(name(), 4, {{"threads", 1}, {"auto_commit", 1}});
  const bool scans = GetParam().scan > 0;
  for (const script::PhaseScript& phase : script.phases) {
    ASSERT_EQ(phase.threads.size(), 1u) << phase.name;
    bool open = false;
    for (const format::Op& op : phase.threads[0]) {
      const bool stream = static_cast<format::Kind>(op.kind) == format::Kind::kStream;
      if (op.code == format::OpCode::kBegin) {
        open = true;
        EXPECT_TRUE(!stream || (scans && op.class_ == 3));
      }
      if (op.code == format::OpCode::kCommit) open = false;
      const bool changes = format::is_data_call(op.code) && op.code != format::OpCode::kGet;
      EXPECT_FALSE(open && changes) << phase.name;
      EXPECT_NE(op.code, format::OpCode::kAbort);
    }
  }
}

TEST_P(YcsbInstance, AutoCommitIsJudgedAsWell) {
  for (const int64_t threads : {1, 4}) {
    const workload::ParameterValues values = {
        {"threads", threads}, {"auto_commit", 1}, {"records", 800}};
    const script::Script script = make_script(name(), 5, values);
    const script::Outcome outcome = play(script, test_index({}));
    judge::Findings findings;
    judge::judge_script(script, outcome, findings);
    EXPECT_TRUE(findings.empty()) << text_of(findings);
    EXPECT_NEAR(operations_in_a_second(script, outcome), static_cast<double>(threads) * 1000, 1e-6);
  }
  const script::Script script = make_script(name(), 6, {{"auto_commit", 1}});
  for (const Faults& faults : {Faults{.success_only = true}, Faults{.drops_every = 100},
                               Faults{.changes_payload_every = 100}}) {
    judge::Findings findings;
    judge::judge_script(script, play(script, test_index(faults)), findings);
    EXPECT_TRUE(findings.failed()) << "drops_every " << faults.drops_every
                                   << ", changes_payload_every " << faults.changes_payload_every;
  }
}

TEST_P(YcsbInstance, TheMixIsThePublishedOne) {
  const ycsb::Mix& mix = GetParam();
  const script::Script script = make_script(name(), 3, {{"operations_per_thread", 5000}});
  std::array<double, 5> counts{};
  for (const std::vector<format::Op>& ops : run_phase(script).threads) {
    for (const format::Op& op : ops) {
      if (op.code != format::OpCode::kBegin ||
          static_cast<format::Kind>(op.kind) != format::Kind::kStream)
        continue;
      ++counts[op.class_];
    }
  }
  const std::array shares = {mix.read, mix.update, mix.insert, mix.scan, mix.read_modify_write};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double p = shares[i] / 100.0, n = 20'000;
    EXPECT_NEAR(counts[i], n * p, 3.3 * std::sqrt(n * p * (1 - p))) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Ycsb, YcsbInstance, ::testing::ValuesIn(ycsb::kMixes),
                         [](const ::testing::TestParamInfo<ycsb::Mix>& parameter) {
                           return std::string(parameter.param.instance);
                         });

// As in YCSB itself, workload C on 1,000 records reads items 144 and 610 most often.
TEST(Ycsb, TheHottestKeysAreYcsbs) {
  const script::Script script =
      make_script("c", 5, {{"records", 1000}, {"operations_per_thread", 50'000}});
  std::map<uint32_t, double> counts;
  for (const std::vector<format::Op>& ops : run_phase(script).threads) {
    bool stream = false;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kBegin)
        stream = static_cast<format::Kind>(op.kind) == format::Kind::kStream;
      if (op.code == format::OpCode::kGet && stream) ++counts[op.key];
    }
  }
  const auto share = [&](uint64_t item) {
    const std::string key = "user" + std::to_string(workload::fnv_63(item));
    const auto& keys = script.pools.varchar_keys;
    const auto at = std::distance(keys.begin(), std::find(keys.begin(), keys.end(), key));
    return counts[static_cast<uint32_t>(at)] / 200'000;
  };
  EXPECT_NEAR(share(144), 0.0386, 0.0015);
  EXPECT_NEAR(share(610), 0.0200, 0.0015);
}

TEST(Ycsb, ScansAreOneToAHundredRecordsLong) {
  const script::Script script = make_script("e", 6, {{"operations_per_thread", 20'000}});
  std::vector<double> lengths(102);
  for (const std::vector<format::Op>& ops : run_phase(script).threads) {
    for (std::size_t at = 0; at < ops.size(); ++at) {
      if (ops[at].code != format::OpCode::kBegin || ops[at].class_ != 3) continue;
      ASSERT_EQ(ops[at + 1].code, format::OpCode::kGet);
      const bool more = ops[at + 2].code == format::OpCode::kNext;
      ++lengths[std::min<std::size_t>(more ? ops[at + 2].argument + 1 : 1, 101)];
    }
  }
  double scans = 0, chi_square = 0;
  for (const double count : lengths) scans += count;
  for (std::size_t length = 1; length <= 100; ++length) {
    const double wanted = scans / 100;
    chi_square += (lengths[length] - wanted) * (lengths[length] - wanted) / wanted;
  }
  EXPECT_EQ(lengths[0] + lengths[101], 0);
  // With 99 degrees of freedom, a correct program exceeds 149 once in 1,000 tests.
  EXPECT_LT(chi_square, 149);
  EXPECT_GT(chi_square, 60);
}

// With one distribution per index all indices are equally hot. With one distribution over all items
// some indices are hotter.
TEST(Ycsb, TheHeatOfTheIndicesFollowsTheParameter) {
  const auto hottest_share = [](bool per_index) {
    ycsb::ItemChooser chooser(ycsb::kMixes[0], 64'000, 0, 64, per_index);
    workload::Rng rng(7, 0, workload::Purpose::kStream);
    std::vector<double> counts(64);
    for (int i = 0; i < 200'000; ++i) ++counts[chooser.next(rng, 64'000) % 64];
    return *std::max_element(counts.begin(), counts.end()) / 200'000;
  };
  EXPECT_LT(hottest_share(true), 1.1 / 64);
  EXPECT_GT(hottest_share(false), 2.0 / 64);
}

// Returns how often 200,000 draws choose each hundredth of 1,000 items.
std::vector<double> chosen_hundredths(const char* instance, uint32_t indices) {
  const auto* mix = std::find_if(ycsb::kMixes.begin(), ycsb::kMixes.end(),
                                 [&](const ycsb::Mix& each) { return each.instance == instance; });
  ycsb::ItemChooser chooser(*mix, 1'000, 0, indices, indices > 1);
  workload::Rng rng(8, 0, workload::Purpose::kStream);
  std::vector<double> counts(100);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t item = chooser.next(rng, 1'000);
    EXPECT_LT(item, 1'000u);
    ++counts.at(item / 10);
  }
  return counts;
}

// Tests one index, and four indexes with a distribution each, where item i is item i / 4 of its
// index.
TEST(Ycsb, UniformHotspotAndExponentialAreTheirDistributions) {
  constexpr double kDraws = 200'000;
  for (const uint32_t indices : {1u, 4u}) {
    testing::expect_uniform(chosen_hundredths("a_uniform", indices));
    const std::vector<double> hot = chosen_hundredths("a_hotspot", indices);
    testing::expect_uniform({hot.begin() + 20, hot.end()});
    double first = 0;
    for (std::size_t i = 0; i < 20; ++i) first += hot[i];
    EXPECT_NEAR(first, 0.8 * kDraws, 3.3 * std::sqrt(kDraws * 0.8 * 0.2));
    // A value that is not below the number of items is drawn again, so the distribution is that of
    // the smaller values.
    const std::vector<double> exponential = chosen_hundredths("a_exponential", indices);
    const double all = 1 - std::pow(0.05, 7.0 / 6);
    double newest = 0;
    for (std::size_t part = 1; part <= 100; ++part) {
      newest += exponential[100 - part];
      const double p = (1 - std::pow(0.05, 7.0 / 6 * static_cast<double>(part) / 100)) / all;
      EXPECT_NEAR(newest, p * kDraws, 4 * std::sqrt(kDraws * p * (1 - p)) + 1) << part;
    }
  }
}

TEST(Ycsb, TooFewRecordsForTheIndicesAreRefused) {
  const workload::Parameters parameters =
      manifest().resolve("many_indices", "smoke", {{"records", 20}, {"indices", 16}}).value();
  const Result<script::Script> script = entry().make("many_indices")->generate(parameters, 1, {});
  ASSERT_FALSE(script.ok());
  EXPECT_NE(script.error().message.find("raise records"), std::string::npos);
}

}  // namespace
}  // namespace keydrome::ycsb
