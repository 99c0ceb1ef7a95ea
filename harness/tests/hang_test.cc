// Tests what the referee, the trusted process that runs a benchmark, reports about libraries that
// hang in the real jail (sandbox). Needs root.
#include <signal.h>

#include <string>
#include <vector>

#include "harness/referee/judging/verdict.h"
#include "harness/tests/jailed.h"

namespace keydrome {
namespace {

using testing::op;
using testing::phase;

constexpr uint64_t kPhaseMs = 500;
constexpr uint32_t kKeys = 10;

class HangTest : public testing::JailedTest {
 protected:
  static SessionResult play(const script::Script& script, const std::string& library) {
    JailOptions options = testing::options_for(library);
    options.plan.limits.phase_timeout_ms = kPhaseMs;
    options.plan.limits.load_timeout_ms = 5'000;
    return keydrome::play(script, options, {});
  }
  static void expect_part(const SessionResult& result, const std::string& part) {
    EXPECT_NE(result.hang.find(part), std::string::npos) << part << "\nis not in\n" << result.hang;
  }
};

script::Script numbers(std::vector<std::vector<format::Op>> threads) {
  script::Script script;
  script.indexes = {{"numbers", INT}};
  script.class_names = {"all"};
  script.pools.payloads = {""};
  for (uint32_t i = 0; i < kKeys; ++i) script.pools.int64_keys.push_back(i * 100);
  std::vector<format::Op> populate{op(format::OpCode::kCreate, 0, 0, format::kUnitStart),
                                   op(format::OpCode::kOpen)};
  for (uint32_t i = 0; i < kKeys; ++i)
    populate.push_back(op(format::OpCode::kInsert, i, 1, format::kAutoCommit));
  populate.push_back(op(format::OpCode::kClose));
  script.phases.push_back(phase("populate", {populate}, 0));
  script.phases.push_back(phase("test", std::move(threads), 0));
  return script;
}

// Returns a program (list of operations) that deletes key `first`, waits until the other thread has
// deleted its own first key, and then deletes key `second`. `mine` and `other` are the numbers of
// the signals that this thread and the other thread send.
std::vector<format::Op> deletes(uint32_t first, uint32_t second, uint32_t mine, uint32_t other) {
  format::Op wait = op(format::OpCode::kWait, 0, other);
  wait.payload = 1;
  return {op(format::OpCode::kOpen, 0, 0, format::kUnitStart),
          op(format::OpCode::kBegin, 0, 5),
          op(format::OpCode::kDeleteKey, first),
          op(format::OpCode::kSignal, 0, mine),
          wait,
          op(format::OpCode::kDeleteKey, second),
          op(format::OpCode::kCommit),
          op(format::OpCode::kClose)};
}

// Returns the text of the finding (entry of the report) `name`, which must occur exactly once.
std::string found(const SessionResult& result, const std::string& name) {
  judge::Findings findings("test");
  add_session_findings({}, result, findings);
  EXPECT_EQ(findings.count(name), 1u) << result.detail;
  // On a busy machine, a warning about clocks may come first.
  for (const judge::Finding& finding : findings.list()) {
    if (finding.name == name) return finding.detail;
  }
  return "";
}

// The library mutant_27 does not detect deadlocks.
TEST_F(HangTest, NamesTheCycleOfADeadlock) {
  const testing::First first;
  const SessionResult result =
      play(numbers({deletes(2, 7, 0, 1), deletes(7, 2, 1, 0)}), "mutant_27");
  ASSERT_EQ(result.stop, StopReason::kDeadline) << result.detail;
  expect_part(result,
              "These threads wait for each other:\n"
              "- thread 0 requests key 700 of \"numbers\"; the open transaction of thread 1 has "
              "touched key 700 of \"numbers\" (operation 2)\n"
              "- thread 1 requests key 200 of \"numbers\"; the open transaction of thread 0 has "
              "touched key 200");
  expect_part(
      result,
      "thread 0: deleteRecord(\"numbers\", 700) (operation 5) has not returned for at least");
  expect_part(result, "it waits in futex");
  expect_part(result, "begun at operation 1, has touched key 200 of \"numbers\" (written)");
  expect_part(result, "(deleteRecord+0x");
  expect_part(result, " open file descriptors (allowed: 4096)");
  judge::Findings findings("test");
  add_session_findings({}, result, findings);
  ASSERT_EQ(findings.count("hang"), 1u);
  EXPECT_NE(findings.list()[0].detail.find("thread 1 is at operation 5 of 8\nThese threads wait"),
            std::string::npos)
      << findings.list()[0].detail;
}

std::vector<format::Op> inserts(uint32_t count) {
  std::vector<format::Op> ops{op(format::OpCode::kOpen, 0, 0, format::kUnitStart)};
  for (uint32_t i = 0; i < count; ++i)
    ops.push_back(op(format::OpCode::kInsert, 3, i + 2, format::kAutoCommit));
  ops.push_back(op(format::OpCode::kClose));
  return ops;
}

TEST_F(HangTest, ShowsAThreadThatSpins) {
  const SessionResult result = play(numbers({inserts(100)}), "spin_for_ever");
  ASSERT_EQ(result.stop, StopReason::kDeadline) << result.detail;
  // The library hangs in its hundredth insert. Phase populate made ten inserts, so this is the 90th
  // insert of phase test.
  expect_part(result, "thread 0: insertRecord(\"numbers\", 300) (operation 90) has not returned");
  expect_part(result, "it runs: ");
  expect_part(result, "stack: library.so+0x");
  expect_part(result, "(insertRecord+0x");
}

// Every insert of slow_calls sleeps for 2 ms. So the library advances, but cannot make all inserts
// in time.
TEST_F(HangTest, ASlowLibraryIsNoHang) {
  for (const bool verified : {false, true}) {
    const testing::First first;
    JailOptions options = testing::options_for("slow_calls");
    options.plan.limits.phase_timeout_ms = kPhaseMs;
    options.plan.verified = verified;
    options.plan.driver = verified ? KEYDROME_DRIVER : "";
    const SessionResult result = keydrome::play(numbers({inserts(10'000)}), options, {});
    ASSERT_EQ(result.stop, StopReason::kDeadline) << result.detail;
    EXPECT_TRUE(result.slow) << result.hang;
    EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "timed_out");
    EXPECT_EQ(ending_of(result).stop, "");
    const std::string detail = found(result, "too_slow");
    EXPECT_TRUE(detail.starts_with("the time limit of " + std::to_string(kPhaseMs) +
                                   " ms (limits.phase_timeout_ms) passed while the referee waited "
                                   "for phase \"test\" to end; in 0."))
        << detail;
    EXPECT_NE(detail.find(" s, thread 0 made "), std::string::npos) << detail;
    EXPECT_NE(detail.find(" of 10,002 operations; it was still advancing, and at this rate the "
                          "phase takes about "),
              std::string::npos)
        << detail;
    expect_part(result, "thread 0: insertRecord(\"numbers\", 300) (operation ");
    expect_part(result, ") was running; it ");
    // In verified mode, a process outside the jail requests the calls. Between two calls, the
    // thread that calls the library waits for the next request, so its stack may show no
    // insertRecord.
    expect_part(result, verified ? "  stack: " : "(insertRecord+0x");
  }
}

TEST_F(HangTest, ASlowLibraryThatUsesUpTheTimeOfTheSessionIsNoHang) {
  const testing::First first;
  JailOptions options = testing::options_for("slow_calls");
  options.wall_ms = 1'500;
  const SessionResult result = keydrome::play(numbers({inserts(10'000)}), options, {});
  ASSERT_EQ(result.stop, StopReason::kLimit) << result.detail;
  EXPECT_TRUE(found(result, "too_slow")
                  .starts_with("the whole session reached its time limit of 1500 ms while the "
                               "referee waited for phase \"test\" to end; in "))
      << result.detail;
}

// Each of the many phases takes about 20 ms, so the time of the session ends early in one of them.
// The calls of this phase alone do not show yet that the library advances.
TEST_F(HangTest, ASlowLibraryWithManyShortPhasesIsNoHang) {
  const testing::First first;
  script::Script script = numbers({inserts(10)});
  for (int i = 0; i < 400; ++i) script.phases.push_back(phase("test", {inserts(10)}, 0));
  JailOptions options = testing::options_for("slow_calls");
  options.wall_ms = 2'000;
  const SessionResult result = keydrome::play(script, options, {});
  ASSERT_EQ(result.stop, StopReason::kLimit) << result.detail;
  const std::string detail = found(result, "too_slow");
  EXPECT_NE(detail.find(" to end; this phase has run for only 0."), std::string::npos) << detail;
  EXPECT_NE(detail.find(" s, so the earlier phases have used up the time"), std::string::npos)
      << detail;
}

TEST_F(HangTest, ShowsAThreadThatSleepsForEver) {
  const testing::First first;
  const SessionResult result = play(numbers({{}}), "hang_in_create");
  ASSERT_EQ(result.stop, StopReason::kDeadline) << result.detail;
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "timed_out");
  expect_part(result, "thread 0: create(\"numbers\") (operation 0) has not returned for at least");
  expect_part(result, "it waits in pause, 0.0 s of CPU time so far");
  expect_part(result, "(create+0x");
}

TEST_F(HangTest, TheCpuTimeOfASessionEndsWithEvidence) {
  JailOptions options = testing::options_for("spin_for_ever");
  options.plan.jail.cpu_seconds = 2;
  const SessionResult result = keydrome::play(numbers({inserts(100)}), options, {});
  ASSERT_EQ(result.stop, StopReason::kLimit) << result.detail << result.jail.text("status");
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "timed_out");
  EXPECT_TRUE(result.detail.starts_with(
      "the library's process reached its limit of 2 s of CPU time (jail.cpu_seconds) "
      "while the referee waited for phase \"test\" to end; thread 0 is at operation 90"))
      << result.detail;
  expect_part(result, "thread 0: insertRecord(\"numbers\", 300) (operation 90) has not returned");
  expect_part(result, "it runs: ");
  expect_part(result, "(insertRecord+0x");
  EXPECT_NE(found(result, "hang").find("(insertRecord+0x"), std::string::npos);
}

TEST_F(HangTest, TheWallTimeOfASessionEndsWithEvidence) {
  const testing::First first;
  JailOptions options = testing::options_for("hang_in_create");
  options.wall_ms = 2'000;
  const SessionResult result = keydrome::play(numbers({{}}), options, {});
  ASSERT_EQ(result.stop, StopReason::kLimit) << result.detail << result.jail.text("status");
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "timed_out");
  EXPECT_TRUE(
      result.detail.starts_with("the whole session reached its time limit of 2000 ms while the "
                                "referee waited for phase \"populate\" to end"))
      << result.detail;
  expect_part(result, "(create+0x");
}

TEST_F(HangTest, TheWallTimeOfASessionIncludesLoading) {
  JailOptions options = testing::options_for("hang_in_constructor");
  options.wall_ms = 1'000;
  const SessionResult result = keydrome::play(numbers({{}}), options, {});
  ASSERT_EQ(result.stop, StopReason::kLimit) << result.detail << result.jail.text("status");
  expect_part(result, "(wait_for_ever+0x");
}

// The kernel kills the process at once. So the referee knows only what the threads wrote into
// shared memory before.
TEST_F(HangTest, NamesTheCallThatTookTheMemory) {
  JailOptions options = testing::options_for("memory_hog");
  options.memory_bytes = uint64_t{64} << 20;
  for (const bool verified : {false, true}) {
    options.plan.verified = verified;
    options.plan.driver = verified ? KEYDROME_DRIVER : "";
    const SessionResult result = keydrome::play(numbers({{}}), options, {});
    EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "out_of_memory");
    EXPECT_NE(
        found(result, "out_of_memory")
            .find(
                "the library reached the memory limit of 64 MiB (jail.memory_bytes) in phase 1 of "
                "the benchmark\n"
                "thread 0: create(\"numbers\") (operation 0) was running or about to begin when "
                "the process ended"),
        std::string::npos)
        << found(result, "out_of_memory");
  }
}

TEST_F(HangTest, SaysWhenThereIsNoStack) {
  const SessionResult result = play(numbers({{}}), "hides_its_stack");
  ASSERT_EQ(result.stop, StopReason::kDeadline) << result.detail;
  expect_part(result, "create(\"numbers\") (operation 0) has not returned");
  expect_part(result, "no stack: the thread wrote none within a second");
}

TEST_F(HangTest, ShowsTheStackOfAConstructor) {
  const testing::First first;
  JailOptions options = testing::options_for("hang_in_constructor");
  options.plan.limits.load_timeout_ms = 500;
  const SessionResult result = keydrome::play(numbers({{}}), options, {});
  ASSERT_EQ(result.stage, Stage::kLoading) << result.detail;
  expect_part(result, "the thread that loads the library: it waits in pause");
  expect_part(result, "(wait_for_ever+0x");
  judge::Findings findings("test");
  add_session_findings({}, result, findings);
  EXPECT_EQ(findings.count("hang"), 1u);
}

// The 500th insert writes to an invalid address. The text shows twelve threads, and the one that
// crashed comes first.
TEST_F(HangTest, ACrashShowsTheStackOfItsThread) {
  const SessionResult result = play(testing::counting_script(30, 10, 5), "crashes_when_large");
  ASSERT_EQ(result.stop, StopReason::kClosed) << result.detail;
  EXPECT_EQ(result.jail.number("signal"), SIGSEGV);
  expect_part(result, "\n  stack at the crash: library.so+0x");
  expect_part(result, "(insertRecord+0x");
  EXPECT_LT(result.hang.find("stack at the crash"), result.hang.find("\nthread ")) << result.hang;
}

TEST_F(HangTest, ACrashInTheConstructorShowsAStack) {
  const SessionResult result = play(numbers({}), "crash_in_constructor");
  ASSERT_EQ(result.stop, StopReason::kClosed) << result.detail;
  EXPECT_EQ(result.jail.number("signal"), SIGSEGV);
  expect_part(result,
              "a thread crashed while the library was loaded\n  stack at the crash: libc.so.6+0x");
  expect_part(result, "(dlopen+0x");
}

// The thread that loads the library holds the lock of the dynamic loader, and waits for the thread
// that crashes. Without this lock, the names on the stack cannot be found.
TEST_F(HangTest, ACrashIsNoHangIfItsThreadCannotFindNames) {
  const SessionResult result = play(numbers({}), "crashes_while_loading");
  ASSERT_EQ(result.stop, StopReason::kClosed) << result.detail;
  EXPECT_EQ(result.jail.number("signal"), SIGSEGV);
  expect_part(result, "  stack at the crash: 0x");
}

}  // namespace
}  // namespace keydrome
