// Tests small parts of the kit, the code that all benchmarks share: histogram, random numbers,
// tags (unique numbers in payloads), the preparation of arguments, and latencies.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/player/arguments.h"
#include "benchmarks/kit/player/interpreter.h"
#include "benchmarks/kit/script/histogram.h"
#include "benchmarks/kit/script/word_follower.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome {
namespace {

TEST(Histogram, KnowsEachValueToOneInThirtyTwo) {
  uint32_t last = 0;
  for (uint64_t ns = 0; ns < (uint64_t{1} << 40); ns += 1 + ns / 50) {
    const uint32_t bucket = script::histogram_bucket(ns);
    ASSERT_LT(bucket, script::kHistogramBuckets);
    ASSERT_GE(bucket, last);
    last = bucket;
    const uint64_t bound = script::histogram_upper_bound_ns(bucket);
    ASSERT_GE(bound, ns);
    ASSERT_LE(bound - ns, ns / 32 + 1);
    if (bucket > 0) {
      ASSERT_LT(script::histogram_upper_bound_ns(bucket - 1), ns);
    }
  }
  EXPECT_EQ(script::histogram_bucket(UINT64_MAX), script::kHistogramBuckets - 1);
}

TEST(Histogram, QuantilesAreUpperBoundsOfTheRightValue) {
  std::vector<uint64_t> counts(script::kHistogramBuckets);
  for (uint64_t ns = 1; ns <= 1000; ++ns) ++counts[script::histogram_bucket(ns)];
  for (const double q : {0.001, 0.5, 0.9, 0.99, 1.0}) {
    const auto exact = static_cast<uint64_t>(std::lround(q * 1000));
    EXPECT_GE(script::histogram_quantile_ns(counts, q), exact);
    EXPECT_LE(script::histogram_quantile_ns(counts, q), exact + exact / 32 + 1);
  }
  EXPECT_EQ(script::histogram_quantile_ns(std::vector<uint64_t>(script::kHistogramBuckets), 0.5),
            0u);
}

// These numbers must never change, because a change would alter the operations of every benchmark.
TEST(Rng, IsFrozen) {
  workload::Rng rng(2009, 3, workload::Purpose::kStream);
  std::array<uint64_t, 3> drawn{};
  for (uint64_t& number : drawn) number = rng.next();
  EXPECT_EQ(drawn, (std::array<uint64_t, 3>{4154544059406404906u, 14583036395189973316u,
                                            4212410127599902322u}));
  // The published reference output of SplitMix64 for the state 1234567.
  workload::SplitMix64 reference(1234567);
  EXPECT_EQ(reference.next(), 6457827717110365317u);
  EXPECT_EQ(reference.next(), 3203168211198807973u);
}

TEST(Rng, StreamsDifferBySeedThreadAndPurpose) {
  std::set<uint64_t> first;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    for (uint32_t thread = 0; thread < 8; ++thread) {
      for (const workload::Purpose purpose :
           {workload::Purpose::kStream, workload::Purpose::kPools}) {
        first.insert(workload::Rng(seed, thread, purpose).next());
      }
    }
  }
  EXPECT_EQ(first.size(), 8u * 8 * 2);
}

TEST(Rng, BoundedDrawsAreUniform) {
  workload::Rng rng(1, 0, workload::Purpose::kStream);
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

TEST(PayloadTag, RoundTrips) {
  for (const uint32_t tag : {0u, 1u, 15u, 16u, 0x12345678u, 0xffffffffu}) {
    std::string text(format::kTagBytes, 0);
    format::write_tag(tag, text.data());
    EXPECT_EQ(format::read_tag(text + "more"), tag) << text;
  }
  std::string text(format::kTagBytes, 0);
  format::write_tag(0x0123cdefu, text.data());
  EXPECT_EQ(text, "ABCDMNOP");
  EXPECT_FALSE(format::read_tag("ABCDMNO").has_value());
  EXPECT_FALSE(format::read_tag("ABCDMNOQ").has_value());
  EXPECT_FALSE(format::read_tag("").has_value());
}

std::string bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

ErrCode begin_at_once(TxnState**) { return SUCCESS; }
ErrCode end_at_once(TxnState*) { return SUCCESS; }

// Provides everything that an interpreter needs for two empty transactions, except their ops.
struct TwoEmptyTransactions {
  explicit TwoEmptyTransactions(uint64_t ns_since_go = 0) {
    api.beginTransaction = begin_at_once;
    api.commitTransaction = end_at_once;
    inputs.api = &api;
    inputs.clock = &clock;
    inputs.go_ticks = clock.ticks() - clock.to_ticks(ns_since_go);
    inputs.outcome = &outcome;
    inputs.words = words;
  }
  TwoEmptyTransactions(const TwoEmptyTransactions&) = delete;
  TwoEmptyTransactions& operator=(const TwoEmptyTransactions&) = delete;

  player::IndexApi api;
  const TickClock clock;
  format::ThreadOutcome outcome{};
  std::array<uint64_t, 8> words{};
  player::InterpreterInputs inputs;
};

// Returns the counts and latencies that follow from the words (8 bytes per call) of two
// transactions.
script::ThreadTotals totals_of(player::Interpreter& session, const TwoEmptyTransactions& two,
                               std::span<const format::Op> ops) {
  session.finish();
  std::vector<uint64_t> words(two.words.begin(),
                              two.words.begin() + static_cast<int64_t>(two.outcome.words));
  return script::follow_words(ops, two.clock, UINT64_MAX, words, nullptr).value().totals;
}

// Returns the longest latency of a transaction class.
uint64_t longest_ns(const script::ThreadTotals& totals, uint32_t class_number) {
  const std::vector<uint32_t>& counts = totals.latency[class_number];
  return script::histogram_quantile_ns(std::vector<uint64_t>(counts.begin(), counts.end()), 1);
}

// The start time of a transaction is normally the end time of the previous transaction. If the
// thread waited for its next piece (part of its program) in between, the wait must not count as
// latency.
TEST(Interpreter, TheWaitForAPieceIsNoLatency) {
  constexpr uint64_t kWaitNs = 20'000'000, kSlackNs = 1'000'000;
  TwoEmptyTransactions two;
  player::Interpreter session(two.inputs);
  const std::array<format::Op, 2> round = {
      format::Op{.code = format::OpCode::kBegin, .argument = 1},
      format::Op{.code = format::OpCode::kCommit}};
  const uint64_t start_ns = now_ns();
  session.run({.pools = {}, .ops = round});
  const uint64_t first_ns = now_ns() - start_ns;
  const uint64_t pause_ns = now_ns();
  while (now_ns() - pause_ns < kWaitNs) {
  }
  const uint64_t again_ns = now_ns();
  session.run({.pools = {}, .ops = round});
  const uint64_t run_ns = std::max(first_ns, now_ns() - again_ns);
  const std::array<format::Op, 4> both = {round[0], round[1], round[0], round[1]};
  const script::ThreadTotals totals = totals_of(session, two, both);
  EXPECT_LE(longest_ns(totals, 0), run_ns + run_ns / 16 + kSlackNs);
  EXPECT_EQ(totals.committed[0], 2u);
}

// With kArrive, the latency of a transaction counts from its arrival time. If the thread is late,
// the latency includes the delay. If the thread is early, it waits, and this wait is not part of
// the latency.
TEST(Interpreter, LatencyCountsFromTheArrival) {
  constexpr uint64_t kLateNs = 30'000'000, kEarlyNs = 20'000'000;
  const uint64_t start_ns = now_ns();
  TwoEmptyTransactions two(kLateNs);
  player::Interpreter session(two.inputs);
  const std::array<format::Op, 6> ops = {
      format::Op{.code = format::OpCode::kArrive, .argument = 0},
      format::Op{.code = format::OpCode::kBegin, .class_ = 0, .argument = 1},
      format::Op{.code = format::OpCode::kCommit},
      format::Op{.code = format::OpCode::kArrive,
                 .argument = static_cast<uint32_t>(kLateNs + kEarlyNs)},
      format::Op{.code = format::OpCode::kBegin, .class_ = 1, .argument = 1},
      format::Op{.code = format::OpCode::kCommit}};
  session.run({.pools = {}, .ops = ops});
  const uint64_t elapsed_ns = now_ns() - start_ns;
  EXPECT_GE(elapsed_ns, kEarlyNs - kEarlyNs / 100);
  const script::ThreadTotals totals = totals_of(session, two, ops);
  EXPECT_GE(longest_ns(totals, 0), kLateNs - kLateNs / 100);
  EXPECT_LE(longest_ns(totals, 1), elapsed_ns - kEarlyNs + elapsed_ns / 16);
}

// A kUntil op ends the program if its time has passed. The referee, which judges the run, finds
// from the words which ops were executed (follow_words()).
TEST(Interpreter, AProgramEndsByTheClock) {
  constexpr uint64_t kSinceGoNs = 30'000'000;
  const format::Op begin{.code = format::OpCode::kBegin, .argument = 1},
      commit{.code = format::OpCode::kCommit},
      later{.code = format::OpCode::kUntil, .payload = 1'000},  // in more than an hour
      passed{.code = format::OpCode::kUntil, .argument = 10'000'000};
  for (const bool ends : {false, true}) {
    TwoEmptyTransactions two(kSinceGoNs);
    player::Interpreter session(two.inputs);
    const std::array ops = {later, begin, commit, ends ? passed : later, begin, commit};
    session.run({.pools = {}, .ops = ops});
    EXPECT_EQ(session.ended(), ends);
    session.finish();
    std::vector<uint64_t> words(two.words.begin(),
                                two.words.begin() + static_cast<int64_t>(two.outcome.words));
    const script::Followed followed =
        script::follow_words(ops, two.clock, UINT64_MAX, words, nullptr).value();
    EXPECT_EQ(followed.ops, ends ? 3u : 6u);
    EXPECT_EQ(followed.ends.size(), ends ? 1u : 2u);
    EXPECT_EQ(followed.totals.committed[0], ends ? 1u : 2u);
  }
}

TEST(Timings, CountsCommitsInScheduledWindows) {
  const TickClock clock(1);
  script::ThreadTotals totals;
  script::Timings timings(clock, {.end_ns = 3'000'000, .window_ns = 1'000'000}, totals);
  for (const uint64_t ns : {500'000u, 1'500'000u, 1'600'000u, 2'500'000u, 3'500'000u}) {
    timings.committed(0, 0, clock.to_ticks(ns));
  }
  EXPECT_EQ(totals.scheduled, (std::vector<uint64_t>{1, 2, 1}));
}

// A transaction is late if it commits after the scheduled end of its phase.
TEST(Timings, CountsLateCommits) {
  const TickClock clock(1);
  script::ThreadTotals totals;
  script::Timings timings(clock, {.end_ns = 1'000'000, .window_ns = 0}, totals);
  timings.committed(2, 0, clock.to_ticks(900'000));
  timings.committed(2, 0, clock.to_ticks(1'100'000));
  timings.committed(3, 0, clock.to_ticks(1'200'000));
  timings.committed_untimed(3);
  EXPECT_EQ(totals.committed[2], 2u);
  EXPECT_EQ(totals.late[2], 1u);
  EXPECT_EQ(totals.late[3], 1u);
}

TEST(Zeroed, LeavesNothingOfEarlierCalls) {
  player::Zeroed<Record> record;
  std::memset(&record.value(), 0x5a, sizeof(Record));
  EXPECT_EQ(bytes_of(record.clear()), std::string(sizeof(Record), 0));
  for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 127u, 128u}) {
    std::vector<char> pool(size + format::kReadAhead, 'x');
    std::memset(&record.value(), 0x5a, sizeof(Record));
    Record expected;
    std::memset(&expected, 0, sizeof expected);
    expected.key.type = VARCHAR;
    std::memset(expected.key.keyval.charkey, 'x', size);
    EXPECT_EQ(bytes_of(record.set_string({pool.data(), size})), bytes_of(expected)) << size;
  }
}

TEST(Zeroed, ClearsWhatAnIntegerIndexReads) {
  player::Zeroed<Record> record;
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
