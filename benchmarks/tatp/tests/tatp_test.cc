// Tests the benchmark "tatp": table sizes, the mix of transactions, the distribution of
// subscribers, and repeated inserts.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"

namespace keydrome::tatp {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::for_each_transaction;
using testing::make_script;
using testing::timed_phase;

constexpr const char* kName = "tatp";
const workload::ParameterValues kSmall = {{"subscribers", 150}, {"transactions_per_thread", 600}};

void expect_share(double count, double n, double share) {
  EXPECT_NEAR(count, n * share, 3.3 * std::sqrt(n * share * (1 - share)));
}

class TatpInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(TatpInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script = make_script(kName, GetParam(), 1, kSmall);
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, GetParam(), script));
  EXPECT_EQ(sum.transactions_completed, 4 * 600u);
  EXPECT_LT(sum.get_hits, sum.gets);  // some gets must miss
  expect_faults_are_found(kName, GetParam(), script);
}

INSTANTIATE_TEST_SUITE_P(Tatp, TatpInstance, ::testing::Values("nonuniform", "uniform"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Returns the keys of the loaded rows, by table.
std::array<std::set<int64_t>, 5> loaded(const script::Script& script) {
  std::array<std::set<int64_t>, 5> rows;
  for (const std::vector<format::Op>& ops : script.phases[1].threads) {
    uint32_t table = 0;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kOpen) table = op.argument;
      if (op.code != format::OpCode::kInsert ||
          static_cast<format::Kind>(op.kind) != format::Kind::kStream)
        continue;
      const int64_t key = table == 0   ? script.pools.int32_keys[op.key]
                          : table == 1 ? std::stoll(std::string(script.pools.varchar_keys[op.key]))
                                       : script.pools.int64_keys[op.key];
      EXPECT_TRUE(rows[table].insert(key).second);
    }
  }
  return rows;
}

// A subscriber has 2.5 access rows and 2.5 facilities on average, and a facility has 1.5
// forwardings. The probabilities are those of the specification.
TEST(Tatp, TablesHaveTheirSizes) {
  const std::array<std::set<int64_t>, 5> rows = loaded(
      make_script(kName, "uniform", 2, {{"subscribers", 4'000}, {"transactions_per_thread", 1}}));
  EXPECT_EQ(rows[0].size(), 4'000u);
  EXPECT_EQ(rows[1], rows[0]);
  std::map<int64_t, int> access;
  for (const int64_t key : rows[2]) ++access[key >> 3];
  std::array<double, 5> counts{};
  for (const auto& [subscriber, count] : access) ++counts.at(static_cast<std::size_t>(count));
  for (std::size_t count = 1; count <= 4; ++count) expect_share(counts[count], 4'000, 0.25);
  EXPECT_NEAR(static_cast<double>(rows[3].size()), 10'000, 250);
  EXPECT_NEAR(static_cast<double>(rows[4].size()), 1.5 * static_cast<double>(rows[3].size()), 350);
  for (const int64_t key : rows[4]) {
    ASSERT_TRUE(rows[3].contains(key >> 8 << 3 | (key >> 5 & 7)));
    ASSERT_TRUE((key & 31) == 0 || (key & 31) == 8 || (key & 31) == 16);
  }
}

// The mix of transactions and the hit ratios are those of the specification. A random type of
// access or facility exists in 62.5 % of cases.
TEST(Tatp, TheMixAndItsHitsAreThePublishedOnes) {
  const script::Script script = make_script(
      kName, "uniform", 3, {{"subscribers", 2'000}, {"transactions_per_thread", 10'000}});
  const std::array<std::set<int64_t>, 5> rows = loaded(script);
  std::array<double, 7> counts{};
  double access = 0, updates = 0, forwards = 0;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    const uint32_t operation = ops[0].class_;
    ++counts.at(operation);
    if (operation == 2) access += rows[2].contains(script.pools.int64_keys[ops[1].key]) ? 1 : 0;
    if (operation == 3) updates += ops.size() > 3 ? 1 : 0;
    if (operation == 5) forwards += ops[ops.size() - 2].code == format::OpCode::kInsert ? 1 : 0;
  });
  const std::array shares = {0.35, 0.10, 0.35, 0.02, 0.14, 0.02, 0.02};
  for (std::size_t i = 0; i < shares.size(); ++i) expect_share(counts[i], 40'000, shares[i]);
  // The bounds are wider than the binomial interval, because the loaded rows are random as well.
  EXPECT_NEAR(access / counts[2], 0.625, 0.03);
  EXPECT_NEAR(updates / counts[3], 0.625, 0.07);
  EXPECT_NEAR(forwards / counts[5], 0.625, 0.07);
}

// Compares the non-uniform choice among 60 subscribers with its exact distribution.
TEST(Tatp, SubscribersFollowTheNonuniformDistribution) {
  constexpr uint64_t kSubscribers = 60, kA = 65'535;
  std::vector<double> distribution(kSubscribers), counts(kSubscribers);
  for (uint64_t a = 0; a <= kA; ++a) {
    for (uint64_t s = 1; s <= kSubscribers; ++s) distribution[(a | s) % kSubscribers] += 1;
  }
  const script::Script script = make_script(
      kName, "nonuniform", 4, {{"subscribers", kSubscribers}, {"transactions_per_thread", 15'000}});
  double draws = 0;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    if (ops[0].class_ != 0) return;
    ++counts.at(ops[1].key);
    ++draws;
  });
  double chi_square = 0;
  for (std::size_t s = 0; s < kSubscribers; ++s) {
    const double wanted = distribution[s] / static_cast<double>((kA + 1) * kSubscribers) * draws;
    chi_square += (counts[s] - wanted) * (counts[s] - wanted) / wanted;
  }
  // 59 degrees of freedom; a correct program exceeds this once in 1,000
  EXPECT_LT(chi_square, 98.3);
  EXPECT_GT(chi_square, 30.0);
}

// A repeated insert has the payload of the existing row. An insert of a missing row has a payload
// that was never used before. Only one thread writes a row.
TEST(Tatp, ARowOfForwardingIsThereOnce) {
  const script::Script script =
      make_script(kName, "uniform", 5, {{"subscribers", 50}, {"transactions_per_thread", 3'000}},
                  {.stripes = false, .canaries = false, .evidence = false});
  std::map<uint32_t, uint32_t> there;  // tag of the present row, by key
  std::map<uint32_t, std::size_t> writer;
  std::set<uint32_t> tags;
  uint64_t again = 0;
  for (const std::size_t phase : {1u, 2u}) {
    for (std::size_t t = 0; t < script.phases[phase].threads.size(); ++t) {
      uint32_t opened = 0;  // table that is open in slot 0 during loading
      for (const format::Op& op : script.phases[phase].threads[t]) {
        if (op.code == format::OpCode::kOpen && op.slot == 0) opened = op.argument;
        if ((phase == 1 ? opened : op.slot) != 4) continue;
        if (op.code != format::OpCode::kInsert && op.code != format::OpCode::kDeleteKey) continue;
        if (phase == 2) {
          ASSERT_EQ(writer.try_emplace(op.key, t).first->second, t);
        }
        if (op.code == format::OpCode::kDeleteKey) {
          there.erase(op.key);
        } else if ((op.flags & format::kMayExist) != 0) {
          ASSERT_EQ(there.at(op.key), op.argument);
          ++again;
        } else {
          ASSERT_TRUE(there.emplace(op.key, op.argument).second);
          ASSERT_TRUE(tags.insert(op.argument).second);
        }
      }
    }
  }
  EXPECT_GT(again, 20u);
}

TEST(Tatp, FewerSubscribersThanThreadsAreRefused) {
  const workload::Parameters parameters =
      testing::manifest_of(kName).resolve("uniform", "smoke", {{"subscribers", 3}}).value();
  const Result<script::Script> script =
      testing::benchmark(kName).make("uniform")->generate(parameters, 1, {});
  ASSERT_FALSE(script.ok());
  EXPECT_NE(script.error().message.find("raise subscribers"), std::string::npos);
}

TEST(Tatp, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, "nonuniform", 6, kSmall)),
            workload::fingerprint(make_script(kName, "nonuniform", 6, kSmall)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "nonuniform", 6, kSmall)),
            workload::fingerprint(make_script(kName, "nonuniform", 7, kSmall)));
}

}  // namespace
}  // namespace keydrome::tatp
