// Tests the benchmark "mixgraph": its distributions against published figures, and its mix of
// operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/fingerprint.h"
#include "benchmarks/mixgraph/distributions.h"

namespace keydrome::mixgraph {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::for_each_transaction;
using testing::make_script;
using testing::timed_phase;

constexpr const char* kName = "mixgraph";
const workload::ParameterValues kSmall = {{"records", 600}, {"operations_per_thread", 300}};
constexpr int kDraws = 100'000;

TEST(Mixgraph, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script = make_script(kName, "facebook", 1, kSmall);
  const judge::Totals sum =
      judge::totals(script, expect_right_is_not_accused(kName, "facebook", script));
  EXPECT_EQ(sum.transactions_planned, 4 * 300u);
  EXPECT_EQ(sum.get_hits, sum.gets);
  expect_faults_are_found(kName, "facebook", script);
}

// The published constants give these probabilities of ranges: 79.1 %, 5.6 %, 1.5 %, ... 0.15 %.
TEST(Mixgraph, FewRangesAreHot) {
  workload::Rng rng(2, 0, workload::Purpose::kShape);
  const mixgraph::HotKeys keys(3'000, rng);
  EXPECT_NEAR(keys.share(0), 0.791, 0.0005);
  EXPECT_NEAR(keys.share(1), 0.056, 0.0005);
  EXPECT_NEAR(keys.share(2), 0.015, 0.0005);
  EXPECT_NEAR(keys.share(29), 0.0015, 0.00005);
  std::array<double, 30> counts{};
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t key = keys.next(rng);
    ASSERT_LT(key, 3'000u);
    for (uint32_t range = 0; range < 30; ++range) {
      if (key - keys.first_key(range) < keys.size()) ++counts[range];
    }
  }
  double chi_square = 0;
  for (uint32_t range = 0; range < 30; ++range) {
    const double wanted = keys.share(range) * kDraws;
    chi_square += (counts[range] - wanted) * (counts[range] - wanted) / wanted;
  }
  // With 29 degrees of freedom, a correct program exceeds 58.3 once in 1,000 tests.
  EXPECT_LT(chi_square, 58.3);
  EXPECT_GT(chi_square, 10.0);
}

// Compares the generated lengths with independently computed figures: the median of value lengths,
// the fraction above 100 bytes, and the median and 99th percentile of scan lengths.
TEST(Mixgraph, SizesAndLengthsFollowTheParetoDistributions) {
  workload::Rng rng(3, 0, workload::Purpose::kShape);
  std::vector<uint32_t> bytes, lengths;
  for (int i = 0; i < kDraws; ++i) {
    bytes.push_back(mixgraph::random_value_bytes(rng));
    lengths.push_back(mixgraph::random_scan_length(rng));
  }
  std::sort(bytes.begin(), bytes.end());
  std::sort(lengths.begin(), lengths.end());
  const auto at = [](const std::vector<uint32_t>& sorted, double share) {
    return static_cast<double>(sorted[static_cast<std::size_t>(share * kDraws)]);
  };
  EXPECT_EQ(bytes.front(), 10u);
  EXPECT_EQ(bytes.back(), 100u);
  EXPECT_NEAR(at(bytes, 0.5), 20, 1);
  const auto clipped = static_cast<double>(std::count(bytes.begin(), bytes.end(), 100u));
  EXPECT_NEAR(clipped / kDraws, 0.067, 0.004);
  EXPECT_EQ(lengths.front(), 1u);
  EXPECT_LE(lengths.back(), 10'000u);
  EXPECT_NEAR(at(lengths, 0.5), 27, 1);
  EXPECT_NEAR(at(lengths, 0.99), 8'519, 400);
}

TEST(Mixgraph, TheMixIsThePublishedOne) {
  const script::Script script =
      make_script(kName, "facebook", 4, {{"records", 600}, {"operations_per_thread", 5'000}});
  std::array<double, 3> counts{};
  for_each_transaction(timed_phase(script),
                       [&](std::span<const format::Op> ops) { ++counts.at(ops[0].class_); });
  const std::array shares = {0.83, 0.14, 0.03};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double n = 20'000, p = shares[i];
    EXPECT_NEAR(counts[i], n * p, 3.3 * std::sqrt(n * p * (1 - p)));
  }
  for (const std::string_view key : script.pools.varchar_keys) {
    EXPECT_TRUE(key.size() == 48 || key.front() == '!');
  }
}

TEST(Mixgraph, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, "facebook", 6, kSmall)),
            workload::fingerprint(make_script(kName, "facebook", 6, kSmall)));
  EXPECT_NE(workload::fingerprint(make_script(kName, "facebook", 6, kSmall)),
            workload::fingerprint(make_script(kName, "facebook", 7, kSmall)));
}

}  // namespace
}  // namespace keydrome::mixgraph
