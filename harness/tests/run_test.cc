// Hand-made scripts through the real jail. Needs root: an instruction, not a skip, where it is
// missing.
#include "harness/referee/run.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/tests/jailed.h"

namespace keydrome {
namespace {

using testing::JailedTest;
using testing::options_for;
using testing::verdict_of;

class RunTest : public JailedTest {};

constexpr uint32_t kThreads = 2;
constexpr uint32_t kInsertsPerUnit = 1000;
constexpr uint32_t kUnits = 150;  // two and a half rounds
constexpr uint32_t kKeysPerThread = kInsertsPerUnit * kUnits;

Script script() { return testing::counting_script(kThreads, kUnits, kInsertsPerUnit); }

TEST_F(RunTest, PlaysSeveralRoundsWithTwoThreads) {
  const Script counting = script();
  std::vector<std::string> events;
  const RunFacts facts = play(counting, options_for("honest"),
                              [&](const Json& event) { events.push_back(event.dump()); });
  ASSERT_EQ(facts.stage, Stage::kComplete) << verdict_of(facts);
  ASSERT_EQ(facts.phases.size(), 3u);
  EXPECT_EQ(events.size(), 7u);  // loading, and two for each phase
  for (const PhaseFacts& done : facts.phases) {
    EXPECT_GT(done.wall_ns, 0u);
    EXPECT_LE(done.player_ns.value_or(0), done.wall_ns + 5'000'000) << done.name;
  }
  for (const ThreadResult& thread : facts.outcome.phases[1].threads) {
    EXPECT_EQ(thread.counters->committed[0], kKeysPerThread);
    EXPECT_EQ(thread.counters->failed, 0u);
  }
  TraceReader trace(facts.outcome.phases[2].threads[0].trace);
  uint64_t records = 0;
  for (Evidence evidence{}; trace.next(evidence);) records += evidence.code == SUCCESS ? 1 : 0;
  EXPECT_EQ(records, kThreads * kKeysPerThread);
}

TEST_F(RunTest, CatchesAnException) {
  const RunFacts facts = play(script(), options_for("throws_exception"), {});
  EXPECT_EQ(facts.stop, Stop::kException) << verdict_of(facts);
  EXPECT_EQ(facts.detail,
            "an exception left the library in phase populate: the contract forbids this");
}

TEST_F(RunTest, DoesNotBelieveAForgedProtocol) {
  const RunFacts facts = play(script(), options_for("early_done"), {});
  EXPECT_NE(facts.stop, Stop::kNone);
  EXPECT_EQ(decide(facts, Findings(), "weak").name, "failed") << verdict_of(facts);
}

}  // namespace
}  // namespace keydrome
