// Tests which measurements of memory are taken for a leak, and what the finding says.
#include "benchmarks/scenarios/growth/growth.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/scenarios/suite.h"

namespace keydrome::scenarios {
namespace {

constexpr int64_t kKib = 1024;

Growth growth(int64_t first, int64_t second, int64_t third, uint64_t transactions = 36'000) {
  return {.each = "transaction that aborts",
          .bytes = {first * kKib, second * kKib, third * kKib},
          .transactions = transactions};
}

// The kernel charges memory in steps of 256 KiB.
TEST(Growth, ALeakGrowsInEveryPart) {
  EXPECT_TRUE(growth(750, 750, 750).is_leak());
  EXPECT_TRUE(growth(768, 512, 1'024).is_leak());
  EXPECT_FALSE(growth(0, 0, 0).is_leak());
  EXPECT_FALSE(growth(256, 256, 256).is_leak()) << "three charges in advance";
  EXPECT_FALSE(growth(768, 0, 768).is_leak());
  EXPECT_FALSE(growth(512, 512, 512, 100'000).is_leak()) << "15 bytes per transaction";
}

TEST(Growth, TwoThreadsMayBeChargedTwice) {
  Growth conflicts = growth(512, 512, 512);
  EXPECT_TRUE(conflicts.is_leak());
  conflicts.threads = 2;
  EXPECT_FALSE(conflicts.is_leak());
  conflicts.bytes = {768 * kKib, 768 * kKib, 768 * kKib};
  EXPECT_TRUE(conflicts.is_leak());
}

// An array that doubled, a collector of garbage that ran once, a pool that was still growing.
TEST(Growth, MemoryThatIsUsedAgainIsNoLeak) {
  EXPECT_FALSE(growth(0, 8'192, 0).is_leak());
  EXPECT_FALSE(growth(4'000, -4'000, 4'000).is_leak());
  EXPECT_FALSE(growth(2'000, 1'000, 0).is_leak());
  EXPECT_FALSE(growth(512, 4'096, 512).is_leak());
}

TEST(Growth, TheTextNamesTheKindsThatGrow) {
  Growth commits = growth(750, 750, 750);
  commits.each = "transaction that commits changes";
  Growth reads = growth(60, 0, 4);
  reads.each = "transaction that only reads";
  Growth conflicts = growth(900, 900, 900);
  conflicts.each = "transaction that conflicts with another thread";
  conflicts.deadlocks = 1'234;
  EXPECT_EQ(growth_text(std::vector<Growth>{reads}), "");
  const std::string text = growth_text(std::vector<Growth>{commits, reads, conflicts});
  EXPECT_EQ(text.find("memory grows with every transaction that commits changes, by 64 bytes, and "
                      "with every transaction that conflicts with another thread, by 77 bytes. "),
            0u)
      << text;
  EXPECT_NE(text.find("\n  transaction that only reads: 60, 0, 4 KiB in 36000 transactions\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("900 KiB in 36000 transactions (1234 calls returned DEADLOCK)"),
            std::string::npos)
      << text;
}

TEST(Growth, ASmallPartOfALargerLeakIsNotNamed) {
  Growth large = growth(75'000, 75'000, 75'000);
  large.each = "transaction that opens and closes an index";
  const std::string text = growth_text(std::vector<Growth>{growth(750, 750, 750), large});
  EXPECT_EQ(text.find("memory grows with every transaction that opens and closes an index, by 6400 "
                      "bytes. "),
            0u)
      << text;
}

// Plays the instance with an index in this process, and pretends that memory grew by this many
// bytes in each phase whose name begins with `kind`.
std::vector<workload::PhaseMeasures> pretended(const script::Script& script,
                                               const std::string& kind, uint64_t bytes) {
  std::vector<workload::PhaseMeasures> measures;
  uint64_t memory = uint64_t{10} << 20;
  for (const script::PhaseScript& phase : script.phases) {
    if (phase.name.starts_with(kind)) memory += bytes;
    measures.push_back({.wall_ns = 1, .memory_bytes = memory});
  }
  return measures;
}

TEST(Growth, TheSuiteFindsTheKindThatLeaks) {
  Suite suite("extremes");
  const workload::Parameters parameters({{"runs", 1},
                                         {"interleavings", 1},
                                         {"large_runs", 0},
                                         {"step_wait_us", 200},
                                         {"extent_percent", 1}});
  const script::Script script = suite.generate(parameters, 1).value();
  const script::Outcome outcome = testing::play(script, testing::test_index({}));
  for (const auto& [kind, each] :
       {std::pair{"memory: aborts", "transaction that aborts"},
        std::pair{"memory: failed calls",
                  "transaction whose calls return ENTRY_EXISTS, ENTRY_DNE or KEY_NOTFOUND"},
        std::pair{"memory: openings", "transaction that opens and closes an index"}}) {
    const auto measures = pretended(script, kind, uint64_t{1} << 20);
    judge::Findings findings("scenarios");
    suite.judge_memory(outcome, measures, findings);
    const std::string text = testing::text_of(findings);
    EXPECT_EQ(findings.count("memory_growth"), 1u) << kind;
    EXPECT_NE(text.find("memory grows with every " + std::string(each) + ", by 87 bytes. "),
              std::string::npos)
        << text;
    EXPECT_FALSE(findings.failed());
    workload::Metrics metrics;
    suite.measure_memory(outcome, measures, metrics);
    EXPECT_NEAR(metrics["growth_per_transaction"], 87.38, 0.01);
  }
  judge::Findings none("scenarios");
  suite.judge_memory(outcome, pretended(script, "S9", uint64_t{9} << 20), none);
  suite.judge_memory(outcome, {}, none);
  EXPECT_TRUE(none.empty()) << testing::text_of(none);
  workload::Metrics metrics;
  suite.measure_memory(outcome, pretended(script, "S9", 1), metrics);
  EXPECT_EQ(metrics["growth_per_transaction"], 0);
}

TEST(Growth, OnlyTheInstanceExtremesMeasures) {
  Suite suite("names");
  const workload::Parameters parameters({{"runs", 1},
                                         {"interleavings", 1},
                                         {"large_runs", 0},
                                         {"step_wait_us", 200},
                                         {"extent_percent", 0}});
  const script::Script script = suite.generate(parameters, 1).value();
  for (const script::PhaseScript& phase : script.phases) {
    EXPECT_FALSE(phase.name.starts_with("memory")) << phase.name;
  }
}

}  // namespace
}  // namespace keydrome::scenarios
