// Tests play(), which plays one session (one repetition of a benchmark, with one library), with
// small scripts (lists of operations) in the real jail (sandbox). The referee is the process that
// plays the session; the player is the process in the jail with the library. Needs root.
#include "harness/referee/session/conductor.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "harness/referee/hang/thread_facts.h"
#include "harness/tests/jailed.h"

namespace keydrome {
namespace {

using testing::JailedTest;
using testing::options_for;
using testing::verdict_of;

class ConductorTest : public JailedTest {};

constexpr uint32_t kThreads = 2;
constexpr uint32_t kInsertsPerUnit = 1000;
constexpr uint32_t kUnits = 150;  // a program of so many units is cut into many pieces (portions)
constexpr uint32_t kKeysPerThread = kInsertsPerUnit * kUnits;

script::Script script() { return testing::counting_script(kThreads, kUnits, kInsertsPerUnit); }

TEST_F(ConductorTest, PlaysManyPiecesWithTwoThreads) {
  const script::Script counting = script();
  std::vector<std::string> events;
  const SessionResult result = play(counting, options_for("honest"),
                                    [&](const Json& event) { events.push_back(event.dump()); });
  ASSERT_EQ(result.stage, Stage::kComplete) << verdict_of(result);
  ASSERT_EQ(result.phases.size(), 3u);
  EXPECT_EQ(events.size(), 7u);  // one event for loading and two for each phase
  for (const PhaseResult& done : result.phases) {
    EXPECT_GT(done.wall_ns, 0u);
    EXPECT_LE(done.player_ns.value_or(0), done.wall_ns + 5'000'000) << done.name;
  }
  for (const script::ThreadResult& thread : result.outcome.phases[1].threads) {
    EXPECT_EQ(thread.totals.committed[0], kKeysPerThread);
    EXPECT_EQ(thread.totals.failed, 0u);
  }
  script::EvidenceReader trace(result.outcome.phases[2].threads[0].trace);
  uint64_t records = 0;
  for (script::Evidence evidence{}; trace.next(evidence);)
    records += evidence.code == SUCCESS ? 1 : 0;
  EXPECT_EQ(records, kThreads * kKeysPerThread);
}

// An operation kArrive waits until its time of arrival. A workload, the code of a benchmark, may
// change these times until the phase begins. The player must use the changed times.
TEST_F(ConductorTest, PlaysAPhaseAsItIsAdapted) {
  using format::OpCode;
  constexpr uint32_t kDayS = 86'400;
  script::Script counting = testing::counting_script(1, 1, 10);
  std::vector<format::Op>& ops = counting.phases[1].threads[0];
  ops.insert(ops.begin(), {testing::op(OpCode::kArrive, 0, 0, format::kUnitStart)});
  ops.front().payload = kDayS;  // in units of 2^32 ns, so the time is more than four days ahead
  std::vector<std::size_t> played;
  const SessionResult result =
      play(counting, options_for("honest"), {}, [&](uint32_t phase, const script::Outcome& so_far) {
        played.push_back(so_far.phases.size());
        EXPECT_EQ(phase, so_far.phases.size());
        counting.phases[1].threads[0].front().payload = 0;
        counting.phases[1].name = "adapted";
      });
  ASSERT_EQ(result.stage, Stage::kComplete) << verdict_of(result);
  EXPECT_EQ(played, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(result.phases[1].name, "adapted");
  EXPECT_EQ(result.outcome.phases[1].threads[0].totals.committed[0], 10u);
}

// A unit is a part of a program that is never divided between two pieces. Each unit begins with an
// operation kUntil, which ends the program if its time has passed. The times of the second half of
// the units have passed, so the thread plays only the first half. It ends before it has asked for
// most of the other pieces.
TEST_F(ConductorTest, AProgramEndsByTheClock) {
  script::Script counting = testing::counting_until(kUnits, kInsertsPerUnit);
  const SessionResult result = play(counting, options_for("honest"), {});
  ASSERT_EQ(result.stage, Stage::kComplete) << verdict_of(result);
  script::drop_unplayed(counting, result.outcome);
  const script::ThreadResult& thread = result.outcome.phases[1].threads[0];
  EXPECT_EQ(thread.totals.committed[0], kUnits / 2 * kInsertsPerUnit);
  EXPECT_EQ(thread.ends.size(), kUnits / 2 * kInsertsPerUnit);
  EXPECT_EQ(counting.phases[1].threads[0].size(), kUnits / 2 * (kInsertsPerUnit + 3));
}

TEST_F(ConductorTest, CatchesAnException) {
  const SessionResult result = play(script(), options_for("throws_exception"), {});
  EXPECT_EQ(result.stop, StopReason::kException) << verdict_of(result);
  EXPECT_EQ(
      result.detail,
      "a function of the library threw an exception in phase \"populate\": the contract forbids "
      "this; every function must catch its exceptions and return FAILURE");
  EXPECT_NE(result.hang.find(": insertRecord(\"numbers\", "), std::string::npos) << result.hang;
}

TEST_F(ConductorTest, DoesNotBelieveAForgedProtocol) {
  const SessionResult result = play(script(), options_for("early_done"), {});
  EXPECT_NE(result.stop, StopReason::kNone);
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "failed") << verdict_of(result);
}

// The referee must wait for the exit status of a process that is ending, even if this takes longer
// than exit_grace_ms.
TEST_F(ConductorTest, ADeadPlayerIsNotTakenForOneThatClosedItsChannel) {
  JailOptions options = options_for("exit_in_constructor");
  options.exit_grace_ms = 0;
  const SessionResult result = play(script(), options, {});
  EXPECT_EQ(result.stop, StopReason::kClosed) << verdict_of(result);
  EXPECT_TRUE(result.player_ended);
  EXPECT_EQ(verdict_of(result),
            "crashed: the library's process ended with exit code 0 while the library was loaded; a "
            "library must not end its process");
}

// Kills the player of the only jail that this process runs. Waits for the player's death, but for
// 200 ms at most: with the freezer of cgroup v1, a frozen process dies only after it has been
// thawed.
void kill_player() {
  std::ifstream children("/proc/thread-self/children");
  pid_t jail = 0;
  ASSERT_TRUE(children >> jail);
  const pid_t player = program_of(jail);
  ASSERT_NE(player, 0);
  const UniqueFd handle(static_cast<int>(syscall(SYS_pidfd_open, player, 0)));
  ASSERT_EQ(kill(player, SIGKILL), 0);
  pollfd death{handle.get(), POLLIN, 0};
  ASSERT_GE(poll(&death, 1, 200), 0);
}

// The jail's init is frozen together with the player, so init can report the player's end only
// after a thaw.
TEST_F(ConductorTest, APlayerThatIsKilledWhileFrozenHasItsExitStatus) {
  const SessionResult result = play(script(), options_for("honest"), [](const Json& event) {
    if (event.as_object().at("event").as_string() == "phase") kill_player();
  });
  EXPECT_EQ(result.stop, StopReason::kClosed) << verdict_of(result);
  EXPECT_EQ(verdict_of(result),
            "crashed: the library's process was ended by SIGKILL before phase 1 of the benchmark");
}

// Returns the number of keys that the library seeks_keys printed after `when`, the name of a step.
uint64_t keys_found(const SessionResult& result, const std::string& when) {
  const std::size_t at = result.standard_output.find(when + ": ");
  EXPECT_NE(at, std::string::npos) << result.standard_output;
  return at == std::string::npos ? 0
                                 : std::stoull(result.standard_output.substr(at + when.size() + 2));
}

// Before the clock of a phase runs, the player's memory must contain no key of this phase.
// Afterwards it may contain only the keys of the next operations.
TEST_F(ConductorTest, ALibraryThatSeeksKeysFindsOnlyTheNextOnes) {
  constexpr int64_t kMark = int64_t{0x5eec} << 48;  // as in tests/faulty/seeks_keys.cc
  script::Script counting = testing::counting_script(1, kUnits, kInsertsPerUnit);
  for (int64_t& key : counting.pools.int64_keys) key |= kMark;
  const SessionResult result = play(counting, options_for("seeks_keys"), {});
  ASSERT_EQ(result.stage, Stage::kComplete) << verdict_of(result);
  EXPECT_EQ(keys_found(result, "create"), 0u);
  EXPECT_GE(keys_found(result, "insert"), kInsertsPerUnit) << "the library does not find any keys";
  EXPECT_LE(keys_found(result, "insert"), kKeysPerThread / 4);
}

}  // namespace
}  // namespace keydrome
