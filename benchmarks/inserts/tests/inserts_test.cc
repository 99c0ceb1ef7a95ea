// Tests the benchmark "inserts": its key orders, transaction sizes, metrics and refused parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/inserts/key_orders.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"

namespace keydrome::inserts {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::expect_uniform;
using testing::for_each_transaction;
using testing::make_script;
using testing::timed_phase;

constexpr const char* kName = "inserts";

workload::ParameterValues small(const std::string& instance) {
  workload::ParameterValues values = {{"inserts_per_thread", 400}};
  if (instance.starts_with("hotspot")) values["records"] = 1'000;
  if (instance.starts_with("bulk") && instance != "bulk_autocommit")
    values["inserts_per_transaction"] = 50;
  return values;
}

class InsertsInstance : public ::testing::TestWithParam<const char*> {};

TEST_P(InsertsInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const std::string instance = GetParam();
  const script::Script script = make_script(kName, instance, 1, small(instance));
  const script::Outcome outcome = expect_right_is_not_accused(kName, instance, script);
  const judge::Totals sum = judge::totals(script, outcome);
  EXPECT_EQ(sum.get_hits, sum.gets);
  ASSERT_TRUE(sum.records_end.has_value());
  EXPECT_GE(*sum.records_end, 4 * 400u);
  workload::Metrics metrics;
  const std::vector<workload::PhaseMeasures> measures(outcome.phases.size(), {2'000'000'000, {}});
  testing::benchmark(kName).make(instance)->measure(script, outcome, measures, metrics);
  EXPECT_EQ(metrics, (workload::Metrics{{"inserts_per_s", 800}}));
  expect_faults_are_found(kName, instance, script);
}

INSTANTIATE_TEST_SUITE_P(Inserts, InsertsInstance,
                         ::testing::Values("monotone_shared", "monotone_blocks",
                                           "monotone_timestamp", "bulk_sorted", "bulk_reverse",
                                           "bulk_random", "bulk_interleaved", "bulk_autocommit",
                                           "hotspot", "hotspot_moving"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Returns the first `inserts` keys of each of two threads, by thread.
std::vector<std::vector<int64_t>> first_keys(const std::string& instance, uint32_t inserts,
                                             uint32_t records = 0, uint32_t permille = 1) {
  const auto order = inserts::key_order(
      instance, {.threads = 2, .records = records, .inserts = inserts, .hot_permille = permille},
      9);
  std::vector<std::vector<int64_t>> keys(2);
  for (uint32_t i = 0; i < inserts; ++i) {
    for (uint32_t thread = 0; thread < 2; ++thread) keys[thread].push_back(order->key(thread, i));
  }
  return keys;
}

using Keys = std::vector<std::vector<int64_t>>;

TEST(Inserts, OrdersAreThoseThatTheirNamesSay) {
  EXPECT_EQ(first_keys("monotone_shared", 3), (Keys{{0, 2, 4}, {1, 3, 5}}));
  EXPECT_EQ(first_keys("monotone_timestamp", 3),
            (Keys{{0, 65'536, 131'072}, {1, 65'537, 131'073}}));
  EXPECT_EQ(first_keys("bulk_sorted", 3), (Keys{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(first_keys("bulk_autocommit", 3), (Keys{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(first_keys("bulk_reverse", 3), (Keys{{2, 1, 0}, {5, 4, 3}}));
  EXPECT_EQ(first_keys("bulk_interleaved", 9)[0],
            (std::vector<int64_t>{0, 2, 4, 6, 1, 3, 5, 7, 8}));
  const Keys blocks = first_keys("monotone_blocks", 1'001);
  EXPECT_EQ(blocks[0].front(), 0);
  EXPECT_EQ(blocks[0][999], 999);
  EXPECT_EQ(blocks[0][1'000], 2'000);
  EXPECT_EQ(blocks[1].front(), 1'000);
  EXPECT_EQ(blocks[1][1'000], 3'000);
}

TEST(Inserts, ARandomLoadIsAPermutation) {
  std::vector<int64_t> keys = first_keys("bulk_random", 500)[1];
  EXPECT_FALSE(std::is_sorted(keys.begin(), keys.end()));
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(keys[i], static_cast<int64_t>(500 + i));
}

// The hot range covers a tenth of the keys. Inserts are uniform within it and avoid loaded keys.
TEST(Inserts, AHotspotIsAStretchOfTheLoadedKeys) {
  const Keys keys = first_keys("hotspot", 20'000, 1'000, 100);
  const int64_t first =
      *std::min_element(keys[0].begin(), keys[0].end()) / inserts::kGap * inserts::kGap;
  std::vector<double> counts(50);
  for (const std::vector<int64_t>& thread : keys) {
    for (const int64_t key : thread) {
      ASSERT_NE(key % inserts::kGap, 0);
      ASSERT_GE(key, first);
      ASSERT_LT(key, first + 100 * inserts::kGap);
      ASSERT_LT(key, 1'000 * inserts::kGap);
      ++counts[static_cast<std::size_t>((key - first) / (2 * inserts::kGap))];
    }
  }
  expect_uniform(counts);
}

TEST(Inserts, AMovingHotspotHasTenPlaces) {
  const std::vector<int64_t> keys = first_keys("hotspot_moving", 1'000, 1'000'000, 1)[0];
  std::set<int64_t> places;
  for (std::size_t part = 0; part < 10; ++part) {
    const auto [low, high] =
        std::minmax_element(keys.begin() + static_cast<int64_t>(part) * 100,
                            keys.begin() + static_cast<int64_t>(part + 1) * 100);
    EXPECT_LE(*high - *low, 1'000 * inserts::kGap);
    places.insert(*low / (1'000 * inserts::kGap));
  }
  EXPECT_GE(places.size(), 9u);
}

TEST(Inserts, TransactionsHaveAsManyInsertsAsWasAskedFor) {
  const script::Script script = make_script(
      kName, "bulk_sorted", 3, {{"inserts_per_thread", 250}, {"inserts_per_transaction", 100}});
  std::multiset<std::size_t> lengths;
  for_each_transaction(timed_phase(script),
                       [&](std::span<const format::Op> ops) { lengths.insert(ops.size() - 2); });
  EXPECT_EQ(lengths.count(100), 8u);
  EXPECT_EQ(lengths.count(50), 4u);
  EXPECT_EQ(lengths.size(), 12u);
}

TEST(Inserts, ImpossibleParametersAreRefused) {
  const auto error = [](const std::string& instance, const workload::ParameterValues& values) {
    const workload::Parameters parameters =
        testing::manifest_of(kName).resolve(instance, "smoke", values).value();
    const Result<script::Script> script =
        testing::benchmark(kName).make(instance)->generate(parameters, 1, {});
    return script.ok() ? std::string() : script.error().message;
  };
  EXPECT_NE(error("hotspot", {{"records", 0}}).find("set records to at least 1"),
            std::string::npos);
  EXPECT_NE(error("bulk_sorted", {{"records", 9}}).find("set records to 0"), std::string::npos);
}

TEST(Inserts, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  for (const std::string instance : {"hotspot", "bulk_random"}) {
    EXPECT_EQ(workload::fingerprint(make_script(kName, instance, 6, small(instance))),
              workload::fingerprint(make_script(kName, instance, 6, small(instance))));
    EXPECT_NE(workload::fingerprint(make_script(kName, instance, 6, small(instance))),
              workload::fingerprint(make_script(kName, instance, 7, small(instance))));
  }
}

}  // namespace
}  // namespace keydrome::inserts
