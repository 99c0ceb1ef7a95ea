// The small parts: histogram, random streams, digest, tags, cleared records.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/digest.h"
#include "benchmarks/kit/histogram.h"
#include "benchmarks/kit/payload_tag.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/session.h"
#include "benchmarks/kit/zeroed.h"

namespace keydrome {
namespace {

TEST(Histogram, KnowsEachValueToOneInThirtyTwo) {
  uint32_t last = 0;
  for (uint64_t ns = 0; ns < (uint64_t{1} << 40); ns += 1 + ns / 50) {
    const uint32_t bucket = histogram_bucket(ns);
    ASSERT_LT(bucket, kHistogramBuckets);
    ASSERT_GE(bucket, last);
    last = bucket;
    const uint64_t bound = histogram_upper_bound_ns(bucket);
    ASSERT_GE(bound, ns);
    ASSERT_LE(bound - ns, ns / 32 + 1);
    if (bucket > 0) {
      ASSERT_LT(histogram_upper_bound_ns(bucket - 1), ns);
    }
  }
  EXPECT_EQ(histogram_bucket(UINT64_MAX), kHistogramBuckets - 1);
}

TEST(Histogram, QuantilesAreUpperBoundsOfTheRightValue) {
  std::vector<uint64_t> counts(kHistogramBuckets);
  for (uint64_t ns = 1; ns <= 1000; ++ns) ++counts[histogram_bucket(ns)];
  for (const double q : {0.001, 0.5, 0.9, 0.99, 1.0}) {
    const auto exact = static_cast<uint64_t>(std::lround(q * 1000));
    EXPECT_GE(histogram_quantile_ns(counts, q), exact);
    EXPECT_LE(histogram_quantile_ns(counts, q), exact + exact / 32 + 1);
  }
  EXPECT_EQ(histogram_quantile_ns(std::vector<uint64_t>(kHistogramBuckets), 0.5), 0u);
}

// A change of these numbers would change every benchmark's operations.
TEST(Rng, IsFrozen) {
  Rng rng(2009, 3, Purpose::kStream);
  std::array<uint64_t, 3> drawn{};
  for (uint64_t& number : drawn) number = rng.next();
  EXPECT_EQ(drawn, (std::array<uint64_t, 3>{4154544059406404906u, 14583036395189973316u,
                                            4212410127599902322u}));
  // The published reference output of SplitMix64 for the state 1234567.
  SplitMix64 reference(1234567);
  EXPECT_EQ(reference.next(), 6457827717110365317u);
  EXPECT_EQ(reference.next(), 3203168211198807973u);
}

TEST(Rng, StreamsDifferBySeedThreadAndPurpose) {
  std::set<uint64_t> first;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    for (uint32_t thread = 0; thread < 8; ++thread) {
      for (const Purpose purpose : {Purpose::kStream, Purpose::kPools}) {
        first.insert(Rng(seed, thread, purpose).next());
      }
    }
  }
  EXPECT_EQ(first.size(), 8u * 8 * 2);
}

TEST(Rng, BoundedDrawsAreUniform) {
  Rng rng(1, 0, Purpose::kStream);
  std::array<int, 10> counts{};
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) ++counts[rng.below(counts.size())];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 1e4) * (count - 1e4) / 1e4;
  EXPECT_LT(chi_square, 27.9);  // 9 degrees of freedom, p = 0.001
  for (int i = 0; i < 1000; ++i) {
    const int64_t drawn = rng.between(-3, 3);
    EXPECT_TRUE(drawn >= -3 && drawn <= 3);
  }
  EXPECT_EQ(rng.between(INT64_MIN, INT64_MIN), INT64_MIN);
  (void)rng.between(INT64_MIN, INT64_MAX);
}

TEST(Digest, IgnoresOrderInsideAGroupAndKeepsItBetweenGroups) {
  const uint64_t a = digest_item(SUCCESS, "k", "a"), b = digest_item(SUCCESS, "k", "b");
  const auto grouped = [](const std::vector<uint64_t>& items) {
    Digest digest;
    digest.start_group(items[0]);
    for (std::size_t i = 1; i < items.size(); ++i) digest.add(items[i]);
    return digest.value();
  };
  const auto chained = [](const std::vector<uint64_t>& items) {
    Digest digest;
    for (const uint64_t item : items) digest.start_group(item);
    return digest.value();
  };
  EXPECT_EQ(grouped({a, b}), grouped({b, a}));
  EXPECT_NE(grouped({a, b}), grouped({a, a}));
  EXPECT_NE(chained({a, b}), chained({b, a}));
  EXPECT_NE(chained({a, b}), grouped({a, b}));
  EXPECT_TRUE(Digest().empty());
}

TEST(Digest, TreatsBothAnswersForAMissingPairAlikeAndNoOthers) {
  EXPECT_EQ(digest_item(ENTRY_DNE, {}, {}), digest_item(KEY_NOTFOUND, {}, {}));
  std::set<uint64_t> items;
  for (uint32_t code = SUCCESS; code <= FAILURE; ++code) items.insert(digest_item(code, {}, {}));
  EXPECT_EQ(items.size(), 10u);
  EXPECT_NE(digest_item(SUCCESS, "ab", "c"), digest_item(SUCCESS, "a", "bc"));
}

TEST(PayloadTag, RoundTrips) {
  for (const uint32_t tag : {0u, 1u, 15u, 16u, 0x12345678u, 0xffffffffu}) {
    std::string text(kTagBytes, 0);
    write_tag(tag, text.data());
    EXPECT_EQ(read_tag(text + "more"), tag) << text;
  }
  std::string text(kTagBytes, 0);
  write_tag(0x0123cdefu, text.data());
  EXPECT_EQ(text, "ABCDMNOP");
  EXPECT_FALSE(read_tag("ABCDMNO").has_value());
  EXPECT_FALSE(read_tag("ABCDMNOQ").has_value());
  EXPECT_FALSE(read_tag("").has_value());
}

std::string bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

ErrCode begin_at_once(TxnState**) { return SUCCESS; }
ErrCode end_at_once(TxnState*) { return SUCCESS; }

// What a session of two empty transactions needs beside its operations.
struct TwoEmptyTransactions {
  explicit TwoEmptyTransactions(uint64_t ns_since_go = 0) {
    api.beginTransaction = begin_at_once;
    api.commitTransaction = end_at_once;
    inputs.api = &api;
    inputs.clock = &clock;
    inputs.go_ticks = clock.ticks() - clock.to_ticks(ns_since_go);
    inputs.outcome = &outcome;
    inputs.ends = ends;
  }
  TwoEmptyTransactions(const TwoEmptyTransactions&) = delete;
  TwoEmptyTransactions& operator=(const TwoEmptyTransactions&) = delete;

  IndexApi api;
  const TickClock clock;
  ThreadOutcome outcome{};
  std::array<TransactionEnd, 2> ends{};
  SessionInputs inputs;
};

// A transaction may begin at the tick where the one before it ended, but not when the thread waited
// for its next round in between.
TEST(Session, TheWaitForARoundIsNoLatency) {
  constexpr uint64_t kWaitNs = 20'000'000, kSlackNs = 1'000'000;
  TwoEmptyTransactions two;
  Session session(two.inputs);
  const std::array<Op, 2> round = {Op{.code = OpCode::kBegin, .argument = 1},
                                   Op{.code = OpCode::kCommit}};
  const uint64_t start_ns = now_ns();
  session.run(round);
  const uint64_t first_ns = now_ns() - start_ns;
  const uint64_t pause_ns = now_ns();
  while (now_ns() - pause_ns < kWaitNs) {
  }
  const uint64_t again_ns = now_ns();
  session.run(round);
  const uint64_t longest_ns = std::max(first_ns, now_ns() - again_ns);
  for (uint32_t bucket = 0; bucket < kHistogramBuckets; ++bucket) {
    if (two.outcome.histogram[0][bucket] == 0) continue;
    EXPECT_LE(histogram_upper_bound_ns(bucket), longest_ns + longest_ns / 16 + kSlackNs);
  }
  EXPECT_EQ(two.outcome.committed[0], 2u);
}

uint64_t longest_ns(const ThreadOutcome& outcome, uint32_t class_number) {
  const auto& counts = outcome.histogram[class_number];
  return histogram_quantile_ns(std::vector<uint64_t>(std::begin(counts), std::end(counts)), 1);
}

// The latency of a transaction that is asked for counts from then: of one that came too late, the
// time for which it waited too; of one that came in time, not the time until it was asked for.
TEST(Session, LatencyCountsFromTheArrival) {
  constexpr uint64_t kLateNs = 30'000'000, kEarlyNs = 20'000'000;
  const uint64_t start_ns = now_ns();
  TwoEmptyTransactions two(kLateNs);
  Session session(two.inputs);
  const std::array<Op, 6> ops = {
      Op{.code = OpCode::kArrive, .argument = 0},
      Op{.code = OpCode::kBegin, .class_ = 0, .argument = 1},
      Op{.code = OpCode::kCommit},
      Op{.code = OpCode::kArrive, .argument = static_cast<uint32_t>(kLateNs + kEarlyNs)},
      Op{.code = OpCode::kBegin, .class_ = 1, .argument = 1},
      Op{.code = OpCode::kCommit}};
  session.run(ops);
  const uint64_t elapsed_ns = now_ns() - start_ns;
  EXPECT_GE(elapsed_ns, kEarlyNs - kEarlyNs / 100);
  EXPECT_GE(longest_ns(two.outcome, 0), kLateNs - kLateNs / 100);
  EXPECT_LE(longest_ns(two.outcome, 1), elapsed_ns - kEarlyNs + elapsed_ns / 16);
}

TEST(Zeroed, LeavesNothingOfEarlierCalls) {
  Zeroed<Record> record;
  std::memset(&record.value(), 0x5a, sizeof(Record));
  EXPECT_EQ(bytes_of(record.clear()), std::string(sizeof(Record), 0));
  for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 127u, 128u}) {
    std::vector<char> pool(size + kReadAhead, 'x');
    std::memset(&record.value(), 0x5a, sizeof(Record));
    Record expected;
    std::memset(&expected, 0, sizeof expected);
    expected.key.type = VARCHAR;
    std::memset(expected.key.keyval.charkey, 'x', size);
    EXPECT_EQ(bytes_of(record.set_string({pool.data(), size})), bytes_of(expected)) << size;
  }
}

TEST(Zeroed, ClearsWhatAnIntegerIndexReads) {
  Zeroed<Record> record;
  Record& value = record.value();
  value.key.keyval.intkey = -1;
  std::memset(value.payload, 'x', sizeof value.payload);
  record.set_integer(SHORT, static_cast<uint32_t>(-7));
  EXPECT_EQ(value.key.type, SHORT);
  EXPECT_EQ(value.key.keyval.shortkey, -7);
  record.set_integer(INT, 0);
  EXPECT_EQ(value.key.type, INT);
  EXPECT_EQ(value.key.keyval.intkey, 0);
  EXPECT_TRUE(std::all_of(std::begin(value.payload), std::end(value.payload),
                          [](char c) { return c == 0; }));
}

}  // namespace
}  // namespace keydrome
