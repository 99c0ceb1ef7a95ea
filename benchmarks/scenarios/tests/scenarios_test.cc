// Tests the benchmark "scenarios", short scripts that each reveal one kind of error, against an
// index in this process. A correct index has no findings. Each faulty index has the right finding.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/scenarios/suite.h"

namespace keydrome::scenarios {
namespace {

using testing::Faults;
using testing::text_of;

// Returns small parameters. A scenario of many threads (a crowd) takes long, so it runs only once.
workload::Parameters small(std::string_view instance, int64_t large_runs,
                           int64_t extent_percent = 0) {
  const bool crowds = instance == "crowds" || instance == "creates" || instance == "names" ||
                      instance == "extremes";
  return workload::Parameters({{"runs", crowds ? 1 : 120},
                               {"interleavings", 50},
                               {"large_runs", large_runs},
                               {"step_wait_us", 200},
                               {"extent_percent", extent_percent}});
}

judge::Findings judged(std::string_view instance, const Faults& faults, uint64_t seed = 1,
                       int64_t large_runs = 1, int64_t extent_percent = 0) {
  Suite suite(instance);
  const script::Script script =
      suite.generate(small(instance, large_runs, extent_percent), seed).value();
  const script::Outcome outcome = testing::play(script, testing::test_index(faults));
  judge::Findings findings("scenarios");
  suite.judge(outcome, findings);
  return findings;
}

class EveryInstance : public ::testing::TestWithParam<const char*> {};

#ifdef KEYDROME_SANITIZED
constexpr uint64_t kSeeds = 1;
#else
constexpr uint64_t kSeeds = 3;
#endif

TEST_P(EveryInstance, PassesACorrectIndex) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const judge::Findings findings = judged(GetParam(), Faults{}, seed);
    EXPECT_TRUE(findings.empty()) << "seed " << seed << "\n" << text_of(findings);
  }
}

TEST(Scenarios, PassACorrectIndexOfExtremeSize) {
  const judge::Findings findings = judged("extremes", Faults{}, 1, 0, 1);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

TEST(Scenarios, WarnOfAnIndexThatFailsAtExtremeSize) {
  const judge::Findings findings = judged("extremes", {.drops_every = 997}, 1, 0, 1);
  EXPECT_GT(findings.count("large_transaction"), 0u) << text_of(findings);
  EXPECT_FALSE(findings.failed()) << text_of(findings);
}

// The instance "visibility" has long transactions, which could never commit if every 53rd call
// returned DEADLOCK. Therefore its index returns DEADLOCK only for every 7,001st call.
TEST(Scenarios, DeadlocksAreNoFindings) {
  for (const char* instance : {"anomalies", "transactions"}) {
    for (const uint32_t every : {53u, 211u}) {
      const judge::Findings findings = judged(instance, {.deadlock_every = every}, every, 0);
      EXPECT_TRUE(findings.empty()) << instance << " every " << every << "\n" << text_of(findings);
    }
  }
  const judge::Findings findings = judged("visibility", {.deadlock_every = 7'001}, 1, 0);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, EveryInstance,
                         ::testing::Values("anomalies", "transactions", "visibility", "crowds",
                                           "creates", "names", "keys"));

struct Case {
  const char* instance;
  const char* finding;
  Faults faults;
};

class ScenariosFind : public ::testing::TestWithParam<Case> {};

// Scripted steps reveal a fault with the first seed. Crowds get more seeds, because timing decides
// if a crowd reads half a transaction, and which name the finding has.
TEST_P(ScenariosFind, TheFaultByName) {
  const uint64_t seeds = GetParam().instance == std::string("crowds") ? 20 : 1;
  std::string seen;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const judge::Findings findings = judged(GetParam().instance, GetParam().faults, seed);
    if (findings.count(GetParam().finding) > 0) {
      EXPECT_TRUE(findings.failed());
      return;
    }
    seen += text_of(findings);
  }
  FAIL() << seen;
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, ScenariosFind,
    ::testing::Values(Case{"anomalies", "dirty_read", {.no_isolation = true}},
                      Case{"transactions", "dirty_read", {.keeps_aborted = true}},
                      Case{"transactions", "abort_undoes", {.loses_aborted_deletes = true}},
                      Case{"visibility", "cursor", {.unordered = true}},
                      Case{"visibility", "duplicate_insert", {.accepts_duplicates = true}},
                      Case{"visibility", "delete_of_missing", {.deletes_missing = true}},
                      Case{"visibility", "own_delete", {.keeps_deleted = true}},
                      Case{"visibility", "cursor", {.wraps_around = true}},
                      Case{"visibility", "corrupt_payload", {.changes_payload_every = 5}},
                      Case{"visibility", "impossible_record", {.wrong_key_every = 5}},
                      Case{"visibility", "undocumented_code", {.odd_code_every = 3}},
                      Case{"crowds", "torn_abort", {.keeps_aborted = true}},
                      Case{"crowds", "double_insert", {.accepts_duplicates = true}},
                      Case{"crowds", "torn_commit", {.no_isolation = true}},
                      Case{"crowds", "phantom", {.no_isolation = true}},
                      Case{"crowds", "missing_record", {.drops_every = 50}}),
    [](const ::testing::TestParamInfo<Case>& parameter) {
      return parameter.param.finding + std::to_string(parameter.index);
    });

// Inserting the same record from many threads is one scenario of the crowds.
TEST(Scenarios, TellWhichThreadsSucceededAtTheSameTime) {
  std::string seen;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    seen += text_of(judged("crowds", {.accepts_duplicates = true}, seed));
  }
  EXPECT_NE(seen.find("threads tried to insert the same record at the same time, and "),
            std::string::npos)
      << seen;
  EXPECT_NE(seen.find(" calls returned SUCCESS (threads "), std::string::npos) << seen;
  EXPECT_NE(seen.find("): exactly one call must succeed"), std::string::npos) << seen;
}

TEST(Scenarios, NameTheScenarioAndTellTheSteps) {
  const judge::Findings findings = judged("transactions", {.loses_aborted_deletes = true});
  const std::string text = text_of(findings);
  EXPECT_NE(text.find("S52, Abort after a record came and went"), std::string::npos) << text;
  EXPECT_NE(
      text.find("thread 0 deleteRecord(1, a) -> SUCCESS\nthread 0 abortTransaction() -> SUCCESS"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("at the end: "), std::string::npos) << text;
  EXPECT_NE(
      text.find("\nIn the lines below, keys and payloads are labels. The keys have the type "),
      std::string::npos)
      << text;
}

TEST(Scenarios, RunsWhoseLogWasFullAreNotJudged) {
  Suite suite("anomalies");
  const script::Script script = suite.generate(small("anomalies", 0), 1).value();
  script::Outcome outcome = testing::play(script, testing::test_index({}));
  // Cuts the log of the second session of every scenario in half.
  for (script::PhaseOutcome& phase : outcome.phases) {
    if (phase.threads.size() < 2) continue;
    script::ThreadResult& thread = phase.threads[1];
    thread.events.resize(thread.events.size() / 2);
    thread.reported->events_full = 1;
  }
  judge::Findings findings("scenarios");
  suite.judge(outcome, findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
  EXPECT_NE(findings.not_judged_reason(), "");
}

TEST(Scenarios, AnUnknownInstanceHasNoPhases) {
  Suite suite("nothing");
  EXPECT_TRUE(suite.generate(small("nothing", 0), 1).value().phases.empty());
}

}  // namespace
}  // namespace keydrome::scenarios
