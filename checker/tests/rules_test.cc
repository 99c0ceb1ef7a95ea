// Tests that certify(), which decides whether a recorded history is right, needs each of its rules
// (rules.h). By the rules it derives which transaction must precede which. If a rule is switched
// off, certify() gives a wrong verdict on some history. The right verdict comes from
// search_orders(), which tries every serial order.
#include "checker/certify/rules.h"

#include <gtest/gtest.h>

#include <iterator>

#include "checker/certify/certify.h"
#include "checker/model/search_orders.h"
#include "checker/tests/random_history.h"
#include "checker/tests/script.h"

namespace keydrome {

using certify::CertifyOptions;
using certify::kRuleCount;
using certify::kRulePredicateWrite;
using certify::kRuleReadWrite;
using certify::kRuleRealTime;
using certify::kRuleReplay;
using certify::Verdict;
using history::History;
using model::OrderSearch;

namespace {

constexpr uint64_t kHistories = 60'000;

Verdict expected_of(const History& history) {
  const OrderSearch found = model::search_orders(history);
  return found.order && found.dirty_reads.empty() ? Verdict::kCertified : Verdict::kViolation;
}

// Histories for rules that random histories rarely need, in the notation of script.h. For example,
// in the first one, thread 0 begins a transaction and inserts payload x under key 5.
constexpr const char* kScripts[] = {
    "0:b 0:i(5,x) 0:d(5,x) 1:b ~0:c 1:g(5)=x 1:c",  // an intermediate read
    "0:i!(1,v) 0:b 1:b 0:d(1,v) 1:d(1,v) 0:c 1:c",  // a double delete
};

History history_of(uint64_t seed) {
  if (seed < std::size(kScripts)) return script(kScripts[seed]);
  RandomHistoryOptions shape;
  shape.transactions = static_cast<uint32_t>(3 + seed % 4);
  shape.keys = static_cast<uint32_t>(1 + seed % 5);
  return random_history(seed, shape);
}

// Tests all rules except kRuleReplay, which only finds violations that the other rules miss.
class EachRule : public testing::TestWithParam<uint32_t> {};

TEST_P(EachRule, IsMissedWhenItIsSwitchedOff) {
  CertifyOptions options;
  options.disabled_rules = 1u << GetParam();
  for (uint64_t seed = 0; seed <= kHistories; ++seed) {
    const History history = history_of(seed);
    const Verdict without = certify::certify(history, options).verdict;
    if (without != certify::certify(history).verdict) {
      EXPECT_NE(without, expected_of(history)) << "seed " << seed;
      return;
    }
  }
  FAIL() << "no history of " << kHistories << " needs this rule";
}

INSTANTIATE_TEST_SUITE_P(Rules, EachRule, testing::Range(0u, kRuleCount - 1));

TEST(Replay, FindsWhatAMissingRuleLetsThrough) {
  uint64_t caught = 0;
  for (uint64_t seed = 1; seed <= rounds(kHistories / 10); ++seed) {
    const History history = history_of(seed);
    for (const uint32_t rule : {kRulePredicateWrite, kRuleReadWrite, kRuleRealTime}) {
      CertifyOptions options;
      options.disabled_rules = rule;
      const Verdict replayed = certify::certify(history, options).verdict;
      options.disabled_rules |= kRuleReplay;
      const Verdict trusted = certify::certify(history, options).verdict;
      caught += trusted == Verdict::kCertified && replayed != Verdict::kCertified ? 1 : 0;
      if (rule == kRuleRealTime || replayed != Verdict::kCertified) continue;
      EXPECT_EQ(expected_of(history), Verdict::kCertified) << "seed " << seed;
    }
  }
  EXPECT_GT(caught, 0u);
}

}  // namespace
}  // namespace keydrome
