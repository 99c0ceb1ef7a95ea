// Tests certify(), which decides whether a recorded history is right. On many small random
// histories, it must give the same verdict as search_orders(), which tries every serial order. An
// order respects *real time* if T1 precedes T2 whenever transaction T1 had returned before T2
// began.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "checker/certify/certify.h"
#include "checker/model/search_orders.h"
#include "checker/tests/random_history.h"
#include "checker/tests/script.h"

namespace keydrome {

using certify::Certification;
using certify::Verdict;
using certify::Violation;
using history::History;
using model::OrderSearch;

namespace {

bool is_right(const History& history) {
  const OrderSearch found = model::search_orders(history);
  EXPECT_EQ(found.problem, "");
  return found.order && found.dirty_reads.empty();
}

TEST(Oracle, CertifyAgreesWithTheSearchOfAllOrders) {
  const uint64_t histories = rounds(30'000);
  std::map<std::string, uint64_t> verdicts;
  for (uint64_t seed = 1; seed <= histories; ++seed) {
    RandomHistoryOptions options;
    options.transactions = static_cast<uint32_t>(3 + seed % 4);
    options.keys = static_cast<uint32_t>(1 + seed % 5);
    const History history = random_history(seed, options);
    const bool right = is_right(history);
    const Certification found = certify::certify(history);
    const Verdict expected = right ? Verdict::kCertified : Verdict::kViolation;
    ++verdicts[right ? "right" : found.violations.empty() ? "?" : found.violations[0].name];
    ASSERT_EQ(found.verdict, expected)
        << "seed " << seed << "\n"
        << found.reason << (found.violations.empty() ? "" : found.violations[0].name) << "\n"
        << text_of(history);
  }
  for (const auto& [name, count] : verdicts) std::printf("%8lu %s\n", count, name.c_str());
}

// Threads scan with several handles of an index.
TEST(Oracle, CertifyAgreesIfThreadsHaveSeveralHandles) {
  const uint64_t histories = rounds(20'000);
  uint64_t wrong = 0;
  for (uint64_t seed = 1; seed <= histories; ++seed) {
    RandomHistoryOptions options;
    options.transactions = static_cast<uint32_t>(2 + seed % 4);
    options.threads = static_cast<uint32_t>(1 + seed % 2);
    options.keys = static_cast<uint32_t>(2 + seed % 4);
    options.indexes = 1;
    options.handles = static_cast<uint32_t>(2 + seed % 2);
    const History history = random_history(seed, options);
    const bool right = is_right(history);
    wrong += right ? 0 : 1;
    const Certification found = certify::certify(history);
    ASSERT_EQ(found.verdict, right ? Verdict::kCertified : Verdict::kViolation)
        << "seed " << seed << "\n"
        << found.reason << (found.violations.empty() ? "" : found.violations[0].name) << "\n"
        << text_of(history);
  }
  EXPECT_GT(wrong, histories / 50);
  EXPECT_LT(wrong, histories / 2);
}

// Returns true for a violation that certify() reports even if a serial order exists: lost data, or
// a transaction that did not see an earlier change of its own thread.
bool is_lost(const Violation& one) {
  return one.name == "missing_record" || one.name == "deleted_record" ||
         one.name == "aborted_read" || one.name == "read_your_writes";
}

// Returns true if certify() reported a required violation that contradicts every serial order.
bool accuses(const Certification& found) {
  return std::any_of(found.violations.begin(), found.violations.end(), [](const Violation& one) {
    return one.severity == Severity::kRequired && !is_lost(one);
  });
}

// Records are inserted again and again, so it is often unknown which insert a read saw.
TEST(Oracle, CertifyAgreesIfRecordsAreInsertedAgain) {
  const uint64_t histories = rounds(20'000);
  uint64_t undecided = 0, wrong = 0;
  for (uint64_t seed = 1; seed <= histories; ++seed) {
    RandomHistoryOptions options;
    options.transactions = 8;
    options.keys = 1 + static_cast<uint32_t>(seed % 3);
    options.indexes = 1;
    options.reuses_payloads = true;
    const History history = random_history(seed, options);
    const bool right = is_right(history);
    wrong += right ? 0 : 1;
    for (const bool strict : {true, false}) {
      const Certification found = certify::certify(history, {.strict = strict});
      if (found.verdict == Verdict::kCertified && strict) {
        ASSERT_TRUE(right) << "seed " << seed << "\n" << text_of(history);
      }
      if (found.verdict == Verdict::kViolation && strict) {
        ASSERT_FALSE(right) << "seed " << seed << " " << found.violations[0].name << "\n"
                            << text_of(history);
      }
      if (right) {
        ASSERT_NE(found.verdict, Verdict::kViolation) << seed << "\n" << text_of(history);
      }
      const bool decided =
          found.verdict == Verdict::kCertified || found.verdict == Verdict::kViolation;
      undecided += strict && !decided ? 1 : 0;
    }
  }
  EXPECT_GT(wrong, histories / 50);
  EXPECT_LT(undecided, histories / 200);
}

bool is_required(const Violation& one) { return one.severity == Severity::kRequired; }

// Tests the verdict that certify() gives if the serial order may contradict real time. A certified
// history must have a serial order. A history with a violation other than lost data must have none.
// Few histories may remain undecided.
TEST(Oracle, WithoutRealTimeNoViolationIsFalse) {
  const uint64_t histories = rounds(20'000);
  uint64_t undecided = 0;
  uint64_t stale = 0;
  uint64_t wrong = 0, accused_if_long = 0;
  for (uint64_t seed = 1; seed <= histories; ++seed) {
    const History history = random_history(seed);
    const OrderSearch found = model::search_orders(history, /*strict=*/false);
    const bool right = found.order && found.dirty_reads.empty();
    const Certification judged = certify::certify(history, {.strict = false});
    const Certification strict = certify::certify(history);
    const Certification judged_long =
        certify::certify(history, {.strict = false, .without_real_time_max = 0});
    ASSERT_FALSE(right && accuses(judged_long)) << "seed " << seed << "\n" << text_of(history);
    wrong += right ? 0 : 1;
    accused_if_long += accuses(judged_long) ? 1 : 0;
    ASSERT_EQ(judged.without_real_time, judged.verdict) << "seed " << seed;
    ASSERT_EQ(judged.verdict, strict.without_real_time) << "seed " << seed;
    if (judged.verdict == Verdict::kCertified) {
      ASSERT_TRUE(right) << "seed " << seed << "\n" << text_of(history);
      stale += judged.violations.empty() ? 0 : 1;
      for (const Violation& violation : strict.violations) {
        if (!is_required(violation)) continue;
        ASSERT_EQ(violation.name, "stale_read") << "seed " << seed << "\n" << text_of(history);
      }
    } else if (judged.verdict == Verdict::kViolation) {
      const auto required =
          std::find_if(judged.violations.begin(), judged.violations.end(), is_required);
      ASSERT_NE(required, judged.violations.end());
      if (is_lost(*required)) continue;
      ASSERT_FALSE(right) << "seed " << seed << " " << required->name << "\n" << text_of(history);
    } else {
      ++undecided;
    }
  }
  EXPECT_LT(undecided, histories / 200);
  EXPECT_GT(stale, 0u);
  EXPECT_GT(accused_if_long, wrong / 2);
}

}  // namespace
}  // namespace keydrome
