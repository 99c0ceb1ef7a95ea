// The test of the tests: with any one rule switched off, certify() is wrong about some history that
// the plain definition can judge. A rule without such a history would be an untested one.
#include "checker/rules.h"

#include <gtest/gtest.h>

#include <iterator>

#include "checker/certify.h"
#include "checker/search_orders.h"
#include "checker/tests/random_history.h"
#include "checker/tests/script.h"

namespace keydrome {
namespace {

constexpr uint64_t kHistories = 60'000;

Verdict expected_of(const History& history) {
  const OrderSearch found = search_orders(history);
  return found.order && found.dirty_reads.empty() ? Verdict::kCertified : Verdict::kViolation;
}

// Rare in random histories.
constexpr const char* kScripts[] = {
    "0:b 0:i(5,x) 0:d(5,x) 1:b ~0:c 1:g(5)=x 1:c",  // an intermediate read
    "0:i!(1,v) 0:b 1:b 0:d(1,v) 1:d(1,v) 0:c 1:c",  // a double delete
};

// The first seed whose history needs the rule that fewest do, tried early: 37,000 others take
// seconds.
constexpr uint64_t kRareSeed = 37'038;

History history_of(uint64_t seed) {
  if (seed < std::size(kScripts)) return script(kScripts[seed]);
  if (seed == std::size(kScripts)) seed = kRareSeed;
  RandomHistoryOptions shape;
  shape.transactions = static_cast<uint32_t>(3 + seed % 4);
  shape.keys = static_cast<uint32_t>(1 + seed % 5);
  return random_history(seed, shape);
}

// All but the replay, which is there for what the other rules miss.
class EachRule : public testing::TestWithParam<uint32_t> {};

TEST_P(EachRule, IsMissedWhenItIsSwitchedOff) {
  CertifyOptions options;
  options.disabled_rules = 1u << GetParam();
  for (uint64_t seed = 0; seed <= kHistories; ++seed) {
    const History history = history_of(seed);
    const Verdict without = certify(history, options).verdict;
    if (without != certify(history).verdict) {
      EXPECT_NE(without, expected_of(history)) << "seed " << seed;
      return;
    }
  }
  FAIL() << "no history of " << kHistories << " needs this rule";
}

INSTANTIATE_TEST_SUITE_P(Rules, EachRule, testing::Range(0u, kRuleCount - 1));

TEST(Replay, CertifiesNothingThatAMissingRuleLetsThrough) {
  uint64_t caught = 0;
  for (uint64_t seed = 1; seed <= rounds(kHistories / 10); ++seed) {
    const History history = history_of(seed);
    for (const uint32_t rule : {kRulePredicateWrite, kRuleReadWrite, kRuleRealTime}) {
      CertifyOptions options;
      options.disabled_rules = rule;
      const Verdict replayed = certify(history, options).verdict;
      options.disabled_rules |= kRuleReplay;
      const Verdict trusted = certify(history, options).verdict;
      caught += trusted == Verdict::kCertified && replayed != Verdict::kCertified ? 1 : 0;
      if (rule == kRuleRealTime || replayed != Verdict::kCertified) continue;
      EXPECT_EQ(expected_of(history), Verdict::kCertified) << "seed " << seed;
    }
  }
  EXPECT_GT(caught, 0u);
}

}  // namespace
}  // namespace keydrome
