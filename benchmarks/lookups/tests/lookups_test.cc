// Tests the benchmark "lookups": hit ratios, the choice of keys, and that faulty indexes are found.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"

namespace keydrome::lookups {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::expect_uniform;
using testing::for_each_transaction;
using testing::make_script;
using testing::timed_phase;

constexpr const char* kName = "lookups";
const workload::ParameterValues kSmall = {{"records", 1'000}, {"lookups_per_thread", 1'000}};

class LookupsInstance : public ::testing::TestWithParam<const char*> {};

// The measured hit ratio equals the requested one: keys of hits exist and keys of misses do not.
TEST_P(LookupsInstance, ARightIndexPassesAndFaultyOnesAreFound) {
  const std::string instance = GetParam();
  const script::Script script = make_script(kName, instance, 1, kSmall);
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, instance, script));
  EXPECT_EQ(sum.gets, 4'000u);
  if (instance == "half") {
    EXPECT_NEAR(static_cast<double>(sum.get_hits), 2'000, 3.3 * std::sqrt(4'000 * 0.25));
  } else {
    EXPECT_EQ(sum.get_hits, instance == "hits" || instance == "serial" ? sum.gets : 0u);
  }
  expect_faults_are_found(kName, instance, script);
}

INSTANTIATE_TEST_SUITE_P(Lookups, LookupsInstance,
                         ::testing::Values("hits", "serial", "half", "misses_between",
                                           "misses_beyond", "misses_suffix"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

// Hits and misses choose their records uniformly.
TEST(Lookups, RecordsAreUniform) {
  const script::Script script =
      make_script(kName, "half", 2, {{"records", 1'000}, {"lookups_per_thread", 10'000}});
  std::vector<double> hits(50), misses(50);
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    ASSERT_EQ(ops.size(), 3u);
    const auto key = static_cast<uint64_t>(script.pools.int64_keys[ops[1].key]);
    ASSERT_LT(key, 2'000u);
    ++(key % 2 == 0 ? hits : misses)[key / 40];
  });
  expect_uniform(hits);
  expect_uniform(misses);
}

TEST(Lookups, KeysBeyondLieAboveAllRecords) {
  const script::Script script = make_script(kName, "misses_beyond", 3, kSmall);
  std::vector<double> counts(50);
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    const int64_t key = script.pools.int64_keys[ops[1].key];
    ASSERT_GE(key, 1'000);
    ASSERT_LT(key, 2'000);
    ++counts[static_cast<std::size_t>(key - 1'000) / 20];
  });
  expect_uniform(counts);
}

TEST(Lookups, MissingStringsDifferInTheLastCharacter) {
  const script::Script script = make_script(kName, "misses_suffix", 4, kSmall);
  std::set<std::string> loaded;
  for (const std::vector<format::Op>& ops : script.phases[1].threads) {
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kInsert &&
          static_cast<format::Kind>(op.kind) == format::Kind::kStream)
        loaded.emplace(script.pools.varchar_keys[op.key]);
    }
  }
  EXPECT_EQ(loaded.size(), 1'000u);
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    std::string key(script.pools.varchar_keys[ops[1].key]);
    ASSERT_FALSE(loaded.contains(key));
    key.back() = 'a';
    ASSERT_TRUE(loaded.contains(key));
  });
}

// If the number of records is a power of two, all values of a hidden key are equally likely. So a
// library that does not know the answer before learns nothing from the key. The bits that hide the
// keys are different from get to get.
TEST(Lookups, HiddenKeysSayNothing) {
  constexpr uint32_t kRecords = 1'024;
  const script::Script script =
      make_script(kName, "serial", 5, {{"records", kRecords}, {"lookups_per_thread", 10'000}});
  EXPECT_EQ(script.hidden_bits, (kRecords - 1) << 1);
  std::vector<double> hidden(64);
  std::set<uint32_t> hiding;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    const format::Op& get = ops[1];
    ASSERT_NE(get.flags & format::kHidden, 0);
    const auto key = static_cast<uint64_t>(script.pools.int64_keys[get.key]);
    ++hidden[(key ^ get.argument) / 2 % hidden.size()];
    hiding.insert(get.argument);
  });
  expect_uniform(hidden);
  // 2,048 different words (1,024 records and two windows) give 86 % of the 1,024 values.
  EXPECT_GT(hiding.size(), kRecords / 4 * 3);
}

TEST(Lookups, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, "half", 6, kSmall)),
            workload::fingerprint(make_script(kName, "half", 6, kSmall)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "half", 6, kSmall)),
            workload::fingerprint(make_script(kName, "half", 7, kSmall)));
}

}  // namespace
}  // namespace keydrome::lookups
