// Tests the benchmark "lookup_upsert": loading, the keys of both phases, and the two metrics.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"

namespace keydrome::lookup_upsert {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::expect_uniform;
using testing::for_each_transaction;
using testing::make_script;

constexpr const char* kName = "lookup_upsert";
// There are so many keys that most are upserted at most once. A second upsert of a key would hide
// the loss of the first.
const workload::ParameterValues kSmall = {
    {"records", 5'000}, {"upserts_per_thread", 400}, {"lookups_per_thread", 400}};

const script::PhaseScript& phase(const script::Script& script, const std::string& name) {
  for (const script::PhaseScript& candidate : script.phases) {
    if (candidate.name == name) return candidate;
  }
  ADD_FAILURE() << "no phase " << name;
  return script.phases.front();
}

class LookupUpsertInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(LookupUpsertInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const std::string instance = GetParam();
  const script::Script script = make_script(kName, instance, 1, kSmall);
  const script::Outcome outcome = expect_right_is_not_accused(kName, instance, script);
  const judge::Totals sum = judge::totals(script, outcome);
  EXPECT_EQ(sum.transactions_planned, 4 * 800u);
  EXPECT_EQ(sum.completed_in_last_phase, 4 * 400u);  // the throughput is computed from this number
  if (instance == "growing") {
    EXPECT_LT(sum.get_hits, sum.gets);
  } else {
    EXPECT_EQ(sum.get_hits, sum.gets);
  }
  expect_faults_are_found(kName, instance, script);
  workload::Metrics metrics;
  const std::vector<workload::PhaseMeasures> measures(outcome.phases.size(), {2'000'000'000, {}});
  testing::benchmark(kName).make(instance)->measure(script, outcome, measures, metrics);
  EXPECT_EQ(metrics, (workload::Metrics{{"lookups_per_s", 800}, {"upserts_per_s", 800}}));
}

INSTANTIATE_TEST_SUITE_P(LookupUpsert, LookupUpsertInstance,
                         ::testing::Values("small", "medium", "large", "growing"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

TEST(LookupUpsert, KeysAreUniformAndAnUpsertReplacesItsKey) {
  const script::Script script = make_script(
      kName, "small", 2,
      {{"records", 1'000}, {"upserts_per_thread", 5'000}, {"lookups_per_thread", 5'000}});
  std::vector<double> upserts(50), lookups(50);
  for_each_transaction(phase(script, "upsert"), [&](std::span<const format::Op> ops) {
    ASSERT_EQ(ops.size(), 4u);
    ASSERT_EQ(ops[1].code, format::OpCode::kDeleteKey);
    ASSERT_EQ(ops[2].code, format::OpCode::kInsert);
    ASSERT_EQ(ops[1].key, ops[2].key);
    ++upserts[static_cast<uint64_t>(script.pools.int64_keys[ops[1].key]) / 20];
  });
  for_each_transaction(phase(script, "lookup"), [&](std::span<const format::Op> ops) {
    ASSERT_EQ(ops.size(), 3u);
    ASSERT_EQ(ops[1].code, format::OpCode::kGet);
    ++lookups[static_cast<uint64_t>(script.pools.int64_keys[ops[1].key]) / 20];
  });
  expect_uniform(upserts);
  expect_uniform(lookups);
}

TEST(LookupUpsert, EveryKeyIsLoadedOnceInRandomOrder) {
  const script::Script script = make_script(kName, "small", 3, kSmall);
  std::set<int64_t> keys;
  uint64_t inserts = 0, falls = 0;
  for (const std::vector<format::Op>& ops : phase(script, "load").threads) {
    int64_t last = -1;
    for (const format::Op& op : ops) {
      if (op.code != format::OpCode::kInsert ||
          static_cast<format::Kind>(op.kind) != format::Kind::kStream)
        continue;
      const int64_t key = script.pools.int64_keys[op.key];
      keys.insert(key);
      ++inserts;
      falls += key < last ? 1 : 0;
      last = key;
    }
  }
  EXPECT_EQ(inserts, 5'000u);
  EXPECT_EQ(keys.size(), 5'000u);
  EXPECT_EQ(*keys.begin(), 0);
  EXPECT_EQ(*keys.rbegin(), 4'999);
  EXPECT_GT(falls, 2'000u);
}

TEST(LookupUpsert, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, "small", 6, kSmall)),
            workload::fingerprint(make_script(kName, "small", 6, kSmall)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "small", 6, kSmall)),
            workload::fingerprint(make_script(kName, "small", 7, kSmall)));
}

}  // namespace
}  // namespace keydrome::lookup_upsert
