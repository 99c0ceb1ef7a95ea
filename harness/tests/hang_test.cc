// Libraries that do not come back, through the real jail: what the referee sees of them.
#include <string>
#include <vector>

#include "harness/referee/verdict.h"
#include "harness/tests/jailed.h"

namespace keydrome {
namespace {

using testing::op;
using testing::phase;

constexpr uint64_t kPhaseMs = 500;
constexpr uint32_t kKeys = 10;

class HangTest : public testing::JailedTest {
 protected:
  static RunFacts play(const Script& script, const std::string& library) {
    JailOptions options = testing::options_for(library);
    options.plan.limits.phase_timeout_ms = kPhaseMs;
    options.plan.limits.load_timeout_ms = 5'000;
    return keydrome::play(script, options, {});
  }
  static void expect_part(const RunFacts& facts, const std::string& part) {
    EXPECT_NE(facts.hang.find(part), std::string::npos) << part << "\nis not in\n" << facts.hang;
  }
};

Script numbers(std::vector<std::vector<Op>> threads) {
  Script script;
  script.indexes = {{"numbers", INT}};
  script.class_names = {"all"};
  script.pools.payloads = {""};
  for (uint32_t i = 0; i < kKeys; ++i) script.pools.int64_keys.push_back(i * 100);
  std::vector<Op> populate{op(OpCode::kCreate, 0, 0, kUnitStart), op(OpCode::kOpen)};
  for (uint32_t i = 0; i < kKeys; ++i) populate.push_back(op(OpCode::kInsert, i, 1, kAutoCommit));
  populate.push_back(op(OpCode::kClose));
  script.phases.push_back(phase("populate", {populate}, 0));
  script.phases.push_back(phase("test", std::move(threads), 0));
  return script;
}

// Deletes key `first`, and when the other thread has deleted its own, key `second`.
std::vector<Op> deletes(uint32_t first, uint32_t second, uint32_t mine, uint32_t other) {
  Op wait = op(OpCode::kWait, 0, other);
  wait.payload = 1;
  return {op(OpCode::kOpen, 0, 0, kUnitStart),
          op(OpCode::kBegin, 0, 5),
          op(OpCode::kDeleteKey, first),
          op(OpCode::kSignal, 0, mine),
          wait,
          op(OpCode::kDeleteKey, second),
          op(OpCode::kCommit),
          op(OpCode::kClose)};
}

TEST_F(HangTest, NamesTheCircleOfADeadlock) {
  const RunFacts facts = play(numbers({deletes(2, 7, 0, 1), deletes(7, 2, 1, 0)}), "mutant_27");
  ASSERT_EQ(facts.stop, Stop::kDeadline) << facts.detail;
  expect_part(facts,
              "They wait for each other:\n"
              "- thread 0 asks for key 700 of \"numbers\"; thread 1 has touched key 700 of "
              "\"numbers\" in its open transaction (operation 2)\n"
              "- thread 1 asks for key 200 of \"numbers\"; thread 0 has touched key 200");
  expect_part(
      facts,
      "thread 0: deleteRecord(\"numbers\", 700) (operation 5) has not returned for at least");
  expect_part(facts, "it waits in futex");
  expect_part(facts, "begun at operation 1, has touched key 200 of \"numbers\" (written)");
  expect_part(facts, "(deleteRecord+0x");
  Findings findings("test");
  add_fact_findings(facts, findings);
  ASSERT_EQ(findings.count("hang"), 1u);
  EXPECT_NE(findings.list()[0].detail.find("thread 1 stands at operation 5 of 8\nThey wait"),
            std::string::npos)
      << findings.list()[0].detail;
}

std::vector<Op> inserts(uint32_t count) {
  std::vector<Op> ops{op(OpCode::kOpen, 0, 0, kUnitStart)};
  for (uint32_t i = 0; i < count; ++i) ops.push_back(op(OpCode::kInsert, 3, i + 2, kAutoCommit));
  ops.push_back(op(OpCode::kClose));
  return ops;
}

TEST_F(HangTest, TellsWhoSpins) {
  const RunFacts facts = play(numbers({inserts(100)}), "spin_for_ever");
  ASSERT_EQ(facts.stop, Stop::kDeadline) << facts.detail;
  // The hundredth insert, ten of them before this phase.
  expect_part(facts, "thread 0: insertRecord(\"numbers\", 300) (operation 90) has not returned");
  expect_part(facts, "it runs: ");
  expect_part(facts, "stack: library.so+0x");
  expect_part(facts, "(insertRecord+0x");
}

TEST_F(HangTest, TellsWhoSleepsForEver) {
  const RunFacts facts = play(numbers({{}}), "hang_in_create");
  ASSERT_EQ(facts.stop, Stop::kDeadline) << facts.detail;
  EXPECT_EQ(decide(facts, Findings(), "weak").name, "timed_out");
  expect_part(facts, "thread 0: create(\"numbers\") (operation 0) has not returned for at least");
  expect_part(facts, "it waits in pause, 0.0 s of CPU time so far");
  expect_part(facts, "(create+0x");
}

// The finding of what the library did, which must be there once.
std::string found(const RunFacts& facts, const std::string& name) {
  Findings findings("test");
  add_fact_findings(facts, findings);
  EXPECT_EQ(findings.count(name), 1u) << facts.detail;
  return findings.list().empty() ? "" : findings.list()[0].detail;
}

TEST_F(HangTest, TheCpuTimeOfASessionEndsWithEvidence) {
  JailOptions options = testing::options_for("spin_for_ever");
  options.plan.jail.cpu_seconds = 1;
  const RunFacts facts = keydrome::play(numbers({inserts(100)}), options, {});
  ASSERT_EQ(facts.stop, Stop::kLimit) << facts.detail << facts.jail.text("status");
  EXPECT_EQ(decide(facts, Findings(), "weak").name, "timed_out");
  EXPECT_TRUE(
      facts.detail.starts_with("the CPU time limit was reached while the referee waited "
                               "for phase test to end; thread 0 stands at operation 90"))
      << facts.detail;
  expect_part(facts, "thread 0: insertRecord(\"numbers\", 300) (operation 90) has not returned");
  expect_part(facts, "it runs: ");
  expect_part(facts, "(insertRecord+0x");
  EXPECT_NE(found(facts, "hang").find("(insertRecord+0x"), std::string::npos);
}

TEST_F(HangTest, TheWallTimeOfASessionEndsWithEvidence) {
  JailOptions options = testing::options_for("hang_in_create");
  options.wall_ms = 1'000;
  const RunFacts facts = keydrome::play(numbers({{}}), options, {});
  ASSERT_EQ(facts.stop, Stop::kLimit) << facts.detail << facts.jail.text("status");
  EXPECT_EQ(decide(facts, Findings(), "weak").name, "timed_out");
  EXPECT_TRUE(
      facts.detail.starts_with("the time limit of the whole session was reached while the "
                               "referee waited for phase populate to end"))
      << facts.detail;
  expect_part(facts, "(create+0x");
}

TEST_F(HangTest, TheWallTimeOfASessionHoldsWhileItIsLoaded) {
  JailOptions options = testing::options_for("hang_in_constructor");
  options.wall_ms = 1'000;
  const RunFacts facts = keydrome::play(numbers({{}}), options, {});
  ASSERT_EQ(facts.stop, Stop::kLimit) << facts.detail << facts.jail.text("status");
  expect_part(facts, "(wait_for_ever+0x");
}

// The kernel kills at once: what the threads had noted by then is what there is.
TEST_F(HangTest, TellsWhichCallTookTheMemory) {
  JailOptions options = testing::options_for("memory_hog");
  options.memory_bytes = uint64_t{64} << 20;
  for (const bool verified : {false, true}) {
    options.plan.verified = verified;
    options.plan.driver = verified ? KEYDROME_DRIVER : "";
    const RunFacts facts = keydrome::play(numbers({{}}), options, {});
    EXPECT_EQ(decide(facts, Findings(), "weak").name, "out_of_memory");
    EXPECT_NE(found(facts, "out_of_memory")
                  .find("the memory limit was reached after 0 phases had ended\n"
                        "thread 0: create(\"numbers\") (operation 0) has not returned"),
              std::string::npos)
        << found(facts, "out_of_memory");
  }
}

TEST_F(HangTest, SaysSoWhereThereIsNoStack) {
  const RunFacts facts = play(numbers({{}}), "hides_its_stack");
  ASSERT_EQ(facts.stop, Stop::kDeadline) << facts.detail;
  expect_part(facts, "create(\"numbers\") (operation 0) has not returned");
  expect_part(facts, "no stack: it wrote none within a second");
}

TEST_F(HangTest, ShowsTheStackOfAConstructor) {
  JailOptions options = testing::options_for("hang_in_constructor");
  options.plan.limits.load_timeout_ms = 500;
  const RunFacts facts = keydrome::play(numbers({{}}), options, {});
  ASSERT_EQ(facts.stage, Stage::kLoading) << facts.detail;
  expect_part(facts, "the thread that loads the library: it waits in pause");
  expect_part(facts, "(wait_for_ever+0x");
  Findings findings("test");
  add_fact_findings(facts, findings);
  EXPECT_EQ(findings.count("hang"), 1u);
}

}  // namespace
}  // namespace keydrome
