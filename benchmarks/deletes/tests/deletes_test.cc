// Tests the benchmark "deletes": the deleted keys, memory growth, and that faulty indexes are
// found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"

namespace keydrome::deletes {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::expect_uniform;
using testing::for_each_transaction;
using testing::make_script;

constexpr const char* kName = "deletes";

workload::ParameterValues small(const std::string& instance) {
  workload::ParameterValues values = {{"records", 800}};
  if (instance.starts_with("churn")) values["transactions_per_round"] = 120;
  if (instance == "range_10") values["transactions_per_round"] = 25;
  if (instance == "range_1000") values["records_per_range"] = 100;
  if (instance == "range_100000") {
    values["records_per_range"] = 350;
    values["records_per_transaction"] = 100;
  }
  return values;
}

class DeletesInstance : public ::testing::TestWithParam<const char*> {};

// At the end of the run the index has its original number of records.
TEST_P(DeletesInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const std::string instance = GetParam();
  const script::Script script = make_script(kName, instance, 1, small(instance),
                                            {.stripes = false, .canaries = true, .evidence = true});
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, instance, script));
  EXPECT_EQ(sum.records_end, 800u);
  const script::Script checked = make_script(kName, instance, 2, small(instance));
  expect_right_is_not_accused(kName, instance, checked);
  expect_faults_are_found(kName, instance, checked);
}

TEST_P(DeletesInstance, AnIndexThatKeepsOrDeniesWhatItDeletesIsFound) {
  const script::Script script =
      make_script(kName, GetParam(), 3, small(GetParam()),
                  {.stripes = false, .canaries = false, .evidence = true});
  for (const testing::Faults& faults :
       {testing::Faults{.keeps_deleted = true}, testing::Faults{.denies_deletes = true}}) {
    judge::Findings findings;
    testing::benchmark(kName)
        .make(GetParam())
        ->judge(script, testing::play(script, testing::test_index(faults)), findings);
    EXPECT_TRUE(findings.failed()) << faults.keeps_deleted;
  }
}

INSTANTIATE_TEST_SUITE_P(Deletes, DeletesInstance,
                         ::testing::Values("churn_oldest", "churn_random", "range_10", "range_1000",
                                           "range_100000", "refill"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

std::vector<const script::PhaseScript*> steady_phases(const script::Script& script) {
  std::vector<const script::PhaseScript*> phases;
  for (const script::PhaseScript& phase : script.phases) {
    if (phase.name.starts_with("steady")) phases.push_back(&phase);
  }
  return phases;
}

// The records of a thread form a queue: each transaction appends a record and removes the oldest.
TEST(Deletes, ChurnTakesTheOldestOfEachThread) {
  const script::Script script =
      make_script(kName, "churn_oldest", 4, {{"records", 400}, {"threads", 2}},
                  {.stripes = false, .canaries = false, .evidence = false});
  for (std::size_t t = 0; t < 2; ++t) {
    std::deque<uint32_t> live;
    for (const format::Op& op : script.phases[1].threads[t]) {
      if (op.code == format::OpCode::kInsert) live.push_back(op.key);
    }
    EXPECT_EQ(live.size(), 200u);
    for (const script::PhaseScript* phase : steady_phases(script)) {
      for (const format::Op& op : phase->threads[t]) {
        if (op.code == format::OpCode::kInsert) live.push_back(op.key);
        if (op.code != format::OpCode::kDeleteKey) continue;
        ASSERT_EQ(op.key, live.front());
        live.pop_front();
      }
    }
    EXPECT_EQ(live.size(), 200u);
  }
}

// Each transaction deletes each of a hundred records with equal probability. The lifetime of a
// record is therefore geometric with a mean of 100 transactions. 63.4 % of the records are deleted
// within 100 transactions.
TEST(Deletes, ChurnAtRandomTakesAny) {
  const script::Script script = make_script(
      kName, "churn_random", 5,
      {{"records", 100}, {"threads", 1}, {"rounds", 1}, {"transactions_per_round", 20'000}},
      {.stripes = false, .canaries = false, .evidence = false});
  std::map<uint32_t, int> born;
  int now = 0;
  double ages = 0, young = 0, deaths = 0;
  for_each_transaction(*steady_phases(script)[0], [&](std::span<const format::Op> ops) {
    born[ops[1].key] = ++now;
    const auto found = born.find(ops[2].key);
    if (found == born.end() || now < 2'000) return;
    ++deaths;
    ages += now - found->second;
    young += now - found->second <= 100 ? 1 : 0;
  });
  EXPECT_NEAR(ages / deaths, 100, 3.0);
  EXPECT_NEAR(young / deaths, 0.634, 0.012);
}

// Adjacent records are deleted together, and the next transaction inserts them again. Threads use
// different records.
TEST(Deletes, RangesAreNeighboursAndComeBack) {
  const script::Script script =
      make_script(kName, "range_10", 6,
                  {{"records", 4 * 1'009}, {"rounds", 1}, {"transactions_per_round", 3'000}},
                  {.stripes = false, .canaries = false, .evidence = false});
  const script::PhaseScript& phase = *steady_phases(script)[0];
  for (std::size_t t = 0; t < phase.threads.size(); ++t) {
    std::set<uint32_t> gone;
    std::vector<double> starts(50);
    for (const format::Op& op : phase.threads[t]) {
      if (op.code == format::OpCode::kGet) {
        ASSERT_TRUE(gone.empty());
        ASSERT_GE(op.key, t * 1'009);
        ASSERT_LE(op.key + 10, (t + 1) * 1'009);
        ++starts[(op.key - t * 1'009) / 20];
      }
      if (op.code == format::OpCode::kDeleteKey) gone.insert(op.key);
      if (op.code == format::OpCode::kInsert) {
        ASSERT_EQ(gone.erase(op.key), 1u);
      }
      if (op.code == format::OpCode::kCommit && !gone.empty()) {
        ASSERT_EQ(*gone.rbegin() - *gone.begin(), 9u);
      }
    }
    expect_uniform(starts);
  }
}

// A range of 350 records takes four transactions that delete and four that insert: three of 100
// records and one of 50. The records of a range are adjacent.
TEST(Deletes, LongRangesTakeSeveralTransactions) {
  const script::Script script =
      make_script(kName, "range_100000", 8, small("range_100000"),
                  {.stripes = false, .canaries = false, .evidence = false});
  const script::PhaseScript& phase = *steady_phases(script)[0];
  for (const std::vector<format::Op>& ops : phase.threads) {
    std::vector<std::size_t> sizes;
    std::vector<uint32_t> deleted, inserted;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kBegin) sizes.push_back(0);
      if (op.code == format::OpCode::kDeleteKey) deleted.push_back(op.key);
      if (op.code == format::OpCode::kInsert) inserted.push_back(op.key);
      if (op.code == format::OpCode::kDeleteKey || op.code == format::OpCode::kInsert) {
        ++sizes.back();
      }
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{100, 100, 100, 50, 100, 100, 100, 50}));
    ASSERT_EQ(deleted.size(), 350u);
    EXPECT_EQ(deleted.back() - deleted.front(), 349u);
    EXPECT_TRUE(std::is_sorted(deleted.begin(), deleted.end()));
    EXPECT_EQ(deleted, inserted);
  }
}

// The suites that a library must pass before it is ranked (the gate) require correct commits and
// aborts only for transactions of up to 10,000 changes. No instance may ask for more.
TEST(Deletes, NoTransactionHasMoreChangesThanTheGateRequires) {
  for (const auto& [name, instance] : testing::manifest_of(kName).instances) {
    for (const auto& [scale, values] : instance.scales) {
      EXPECT_LE(values.at("records_per_transaction"), 10'000) << name << ' ' << scale;
    }
  }
}

TEST(Deletes, GrowthIsBetweenTheFirstAndTheLastSteadyPhase) {
  const script::Script script = make_script(kName, "refill", 7, small("refill"));
  std::vector<workload::PhaseMeasures> phases;
  uint64_t bytes = 1'000;
  for (const script::PhaseScript& phase : script.phases) {
    phases.push_back({1, phase.name.starts_with("steady") ? bytes += 500 : 77u});
  }
  workload::Metrics metrics;
  testing::benchmark(kName).make("refill")->measure(script, {}, phases, metrics);
  EXPECT_EQ(metrics, (workload::Metrics{{"memory_growth", 2'500.0 / 1'500 - 1}}));
}

TEST(Deletes, TooFewRecordsAreRefused) {
  const workload::Parameters parameters =
      testing::manifest_of(kName).resolve("range_1000", "smoke", {{"records", 3'999}}).value();
  const Result<script::Script> script =
      testing::benchmark(kName).make("range_1000")->generate(parameters, 1, {});
  ASSERT_FALSE(script.ok());
  EXPECT_NE(script.error().message.find("raise records"), std::string::npos);
}

TEST(Deletes, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, "churn_random", 6, small("churn_random"))),
            workload::fingerprint(make_script(kName, "churn_random", 6, small("churn_random"))));
  EXPECT_NE(workload::fingerprint(make_script(kName, "churn_random", 6, small("churn_random"))),
            workload::fingerprint(make_script(kName, "churn_random", 7, small("churn_random"))));
}

}  // namespace
}  // namespace keydrome::deletes
