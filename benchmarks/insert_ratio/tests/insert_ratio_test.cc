// Tests the benchmark "insert_ratio": ratios, keys, repeated inserts, and refused parameters.
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
#include "benchmarks/kit/workload/fingerprint.h"

namespace keydrome::insert_ratio {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::expect_uniform;
using testing::for_each_transaction;
using testing::make_script;
using testing::timed_phase;

constexpr const char* kName = "insert_ratio";
constexpr uint64_t kRecords = 2'000;
const workload::ParameterValues kSmall = {{"records", kRecords}, {"operations_per_thread", 500}};

class InsertRatioInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(InsertRatioInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script = make_script(kName, GetParam(), 1, kSmall);
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, GetParam(), script));
  EXPECT_EQ(sum.transactions_planned, 4 * 500u);
  EXPECT_EQ(sum.get_hits, sum.gets);  // every lookup finds its key
  expect_faults_are_found(kName, GetParam(), script);
}

INSTANTIATE_TEST_SUITE_P(InsertRatio, InsertRatioInstance,
                         ::testing::Values("inserts_0", "inserts_5", "inserts_20", "inserts_40",
                                           "inserts_60", "inserts_80", "inserts_100", "sorted"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Lookups use even keys and inserts use odd keys at the given ratio. Both are uniform over the
// whole domain.
TEST(InsertRatio, SearchesAreEvenAndInsertsOddAndBothUniform) {
  const script::Script script =
      make_script(kName, "inserts_20", 2, {{"records", 2'000}, {"operations_per_thread", 10'000}});
  std::array<std::vector<double>, 2> counts = {std::vector<double>(50), std::vector<double>(50)};
  double inserts = 0;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    ASSERT_EQ(ops.size(), 3u);
    const format::Op& op = ops[1];
    const auto key = static_cast<uint64_t>(script.pools.int64_keys[op.key]);
    ASSERT_LT(key, 4'000u);
    const bool insert = op.code == format::OpCode::kInsert;
    ASSERT_EQ(key % 2, insert ? 1u : 0u);
    inserts += insert ? 1 : 0;
    ++counts[insert ? 1 : 0][key / 80];
  });
  EXPECT_NEAR(inserts, 8'000, 3.3 * std::sqrt(40'000 * 0.2 * 0.8));
  expect_uniform(counts[0]);
  expect_uniform(counts[1]);
}

TEST(InsertRatio, AnOddKeyHasOnePayload) {
  const script::Script script =
      make_script(kName, "inserts_100", 3, {{"records", 100}, {"operations_per_thread", 500}});
  std::map<uint32_t, std::set<uint32_t>> tags;
  uint64_t inserts = 0;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    tags[ops[1].key].insert(ops[1].argument);
    ++inserts;
  });
  EXPECT_EQ(inserts, 2'000u);
  EXPECT_LE(tags.size(), 100u);
  for (const auto& [key, found] : tags) EXPECT_EQ(found.size(), 1u) << key;
}

TEST(InsertRatio, AnIndexThatDoesNotKnowItsPairsIsFound) {
  const script::Script script =
      make_script(kName, "inserts_100", 4, {{"records", 200}, {"operations_per_thread", 1'000}});
  judge::Findings findings;
  judge::judge_script(
      script, testing::play(script, testing::test_index({.accepts_duplicates = true})), findings);
  EXPECT_GT(findings.count("wrong_insert"), 0u) << testing::text_of(findings);
}

TEST(InsertRatio, SortedInsertsTakeTheOddKeysInTurn) {
  const script::Script script = make_script(kName, "sorted", 5, kSmall);
  std::vector<std::vector<int64_t>> keys;
  for (const std::vector<format::Op>& ops : timed_phase(script).threads) {
    keys.emplace_back();
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kInsert && (op.flags & format::kMayExist) != 0)
        keys.back().push_back(script.pools.int64_keys[op.key]);
    }
    EXPECT_TRUE(std::is_sorted(keys.back().begin(), keys.back().end()));
  }
  for (std::size_t i = 0; i < 500; ++i) {
    for (std::size_t t = 0; t < keys.size(); ++t) {
      ASSERT_EQ(keys[t][i], static_cast<int64_t>(2 * (keys.size() * i + t) + 1));
    }
  }
}

TEST(InsertRatio, MoreSortedInsertsThanOddKeysAreRefused) {
  const workload::Parameters parameters =
      testing::manifest_of(kName).resolve("sorted", "smoke", {{"records", 100}}).value();
  const Result<script::Script> script =
      testing::benchmark(kName).make("sorted")->generate(parameters, 1, {});
  ASSERT_FALSE(script.ok());
  EXPECT_NE(script.error().message.find("raise records"), std::string::npos);
}

TEST(InsertRatio, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, "inserts_20", 6, kSmall)),
            workload::fingerprint(make_script(kName, "inserts_20", 6, kSmall)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "inserts_20", 6, kSmall)),
            workload::fingerprint(make_script(kName, "inserts_20", 7, kSmall)));
}

}  // namespace
}  // namespace keydrome::insert_ratio
