#include <gtest/gtest.h>

#include <string>

#include "benchmarks/kit/fingerprint.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/totals.h"

namespace keydrome {
namespace {

using testing::Faults;
using testing::play;
using testing::test_index;
using testing::text_of;

const BenchmarkEntry& entry() {
  for (const BenchmarkEntry& candidate : benchmark_registry()) {
    if (candidate.name == "sigmod2009") return candidate;
  }
  fail(KEYDROME_HERE, "sigmod2009 is not registered");
}

Script make_script(uint64_t seed, const ParameterValues& overrides = {},
                   const CheckPolicy& policy = {}, const std::string& instance = "preliminary1") {
  const Manifest manifest = Manifest::parse(entry().manifest_json).value();
  const Parameters parameters = manifest.resolve(instance, "smoke", overrides).value();
  return entry().make(instance)->generate(parameters, seed, policy).value();
}

Findings judge(const Script& script, const Faults& faults) {
  const Outcome outcome = play(script, test_index(faults));
  Findings findings("sigmod2009");
  entry().make("preliminary1")->judge(script, outcome, findings);
  return findings;
}

TEST(Sigmod2009, ACorrectIndexIsNeverAccused) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const Script script = make_script(seed, {{"threads", 4}, {"tests_per_thread", 200}});
    const Findings findings = judge(script, Faults{});
    EXPECT_TRUE(findings.empty()) << "seed " << seed << "\n" << text_of(findings);
  }
}

TEST(Sigmod2009, DeadlocksAreRetriedAndNeverAccused) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Script script = make_script(seed, {{"threads", 4}, {"tests_per_thread", 200}});
    const Outcome outcome = play(script, test_index({.deadlock_every = 1009}));
    Findings findings;
    judge_script(script, outcome, findings);
    EXPECT_TRUE(findings.empty()) << "seed " << seed << "\n" << text_of(findings);
    const Totals sum = totals(script, outcome);
    EXPECT_GT(sum.deadlocks, 0u);
    EXPECT_EQ(sum.transactions_completed, 800u);
    EXPECT_EQ(sum.transactions_failed, 0u);
  }
}

}  // namespace
}  // namespace keydrome
