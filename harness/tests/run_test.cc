// Hand-made scripts through the real jail. Needs root: an instruction, not a skip, where it is
// missing.
#include "harness/referee/run.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/referee/verdict.h"
#include "harness/tests/jailed.h"

namespace keydrome {
namespace {

using testing::JailedTest;
using testing::op;
using testing::options_for;
using testing::phase;

class RunTest : public JailedTest {};

constexpr uint32_t kThreads = 2;
constexpr uint32_t kInsertsPerUnit = 1000;
constexpr uint32_t kUnits = 150;  // two and a half rounds
constexpr uint32_t kKeysPerThread = kInsertsPerUnit * kUnits;

std::vector<Op> insert_all(uint32_t thread) {
  std::vector<Op> ops;
  for (uint32_t unit = 0; unit < kUnits; ++unit) {
    ops.push_back(op(OpCode::kOpen, 0, 0, kUnitStart));
    for (uint32_t i = 0; i < kInsertsPerUnit; ++i) {
      const uint32_t key = (unit * kInsertsPerUnit + i) * kThreads + thread;
      ops.push_back(op(OpCode::kInsert, key, key, kAutoCommit));
    }
    ops.push_back(op(OpCode::kClose));
  }
  return ops;
}

// Two threads insert distinct keys in several rounds, then one thread counts them.
Script counting_script() {
  Script script;
  script.indexes = {{"numbers", INT}};
  script.class_names = {"insert"};
  script.pools.payloads = {""};
  for (uint32_t i = 0; i < kThreads * kKeysPerThread; ++i) script.pools.int64_keys.push_back(i);
  script.phases.push_back(phase("create", {{op(OpCode::kCreate, 0, 0, kUnitStart)}}, 0));
  script.phases.push_back(phase("populate", {insert_all(0), insert_all(1)}, 0));
  const uint32_t limit = kThreads * kKeysPerThread + 1;
  script.phases.push_back(phase(
      "verify",
      {{op(OpCode::kOpen, 0, 0, kUnitStart), op(OpCode::kBegin, 0, 2),
        op(OpCode::kNextToEnd, 0, limit, kEvidenceAll), op(OpCode::kCommit), op(OpCode::kClose)}},
      uint64_t{limit} * 48));
  script.phases.back().timed = false;
  script.phases.back().verifies = true;
  return script;
}

std::string verdict_of(const RunFacts& facts) {
  const RunVerdict verdict = decide(facts, Findings(), "weak");
  return verdict.name + ": " + verdict.reason + facts.standard_errors;
}

TEST_F(RunTest, PlaysSeveralRoundsWithTwoThreads) {
  const Script script = counting_script();
  std::vector<std::string> events;
  const RunFacts facts = play(script, options_for("honest"),
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
  const RunFacts facts = play(counting_script(), options_for("throws_exception"), {});
  EXPECT_EQ(facts.stop, Stop::kException) << verdict_of(facts);
  EXPECT_EQ(facts.detail,
            "an exception left the library in phase populate: the contract forbids this");
}

TEST_F(RunTest, DoesNotBelieveAForgedProtocol) {
  const RunFacts facts = play(counting_script(), options_for("early_done"), {});
  EXPECT_NE(facts.stop, Stop::kNone);
  EXPECT_EQ(decide(facts, Findings(), "weak").name, "failed") << verdict_of(facts);
}

}  // namespace
}  // namespace keydrome
