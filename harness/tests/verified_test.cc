// Tests verified mode: a trusted driver plays the operations outside the jail (sandbox), and the
// library runs in a real jail. Needs root.
#include <algorithm>
#include <string>
#include <vector>

#include "harness/tests/jailed.h"

namespace keydrome {
namespace {

using testing::verdict_of;

constexpr uint32_t kThreads = 3;
constexpr uint32_t kKeysPerThread = 200;

class VerifiedTest : public testing::JailedTest {
 protected:
  static JailOptions options(const std::string& library) {
    JailOptions options = testing::options_for(library);
    options.plan.verified = true;
    options.plan.driver = KEYDROME_DRIVER;
    options.plan.limits.phase_timeout_ms = 20'000;
    return options;
  }
  static SessionResult play(const script::Script& script, const JailOptions& options) {
    return keydrome::play(script, options, {});
  }
};

script::Script script() { return testing::counting_script(kThreads, 1, kKeysPerThread); }

TEST_F(VerifiedTest, ReadsBackWhatWasInserted) {
  const script::Script counting = script();  // must outlive `trace`, which refers to its keys
  const SessionResult result = play(counting, options("honest"));
  ASSERT_EQ(result.stage, Stage::kComplete) << verdict_of(result);
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

// The driver logs calls outside the jail. Its log must have an event for every call.
TEST_F(VerifiedTest, RecordsOutsideTheLibrarysProcess) {
  script::Script recorded = script();
  for (script::PhaseScript& phase : recorded.phases) {
    phase.log_capacity.assign(phase.threads.size(), uint64_t{2} * kKeysPerThread * kThreads);
  }
  const SessionResult result = play(recorded, options("honest"));
  ASSERT_EQ(result.stage, Stage::kComplete) << verdict_of(result);
  for (const script::ThreadResult& thread : result.outcome.phases[1].threads) {
    EXPECT_EQ(thread.events.size(), kKeysPerThread + 2u);
  }
}

// The thread's list of operations ends by the clock after one half. So the driver ends before it
// has asked for all pieces (portions) of the list. The player, which makes the driver's calls, ends
// after the driver.
TEST_F(VerifiedTest, AProgramEndsByTheClock) {
  constexpr uint32_t kUnits = 150;
  const SessionResult result =
      play(testing::counting_until(kUnits, kKeysPerThread), options("honest"));
  ASSERT_EQ(result.stage, Stage::kComplete) << verdict_of(result);
  EXPECT_EQ(result.outcome.phases[1].threads[0].totals.committed[0], kUnits / 2 * kKeysPerThread);
}

TEST_F(VerifiedTest, CatchesAnException) {
  const SessionResult result = play(script(), options("throws_exception"));
  EXPECT_EQ(result.stop, StopReason::kException) << verdict_of(result);
  EXPECT_EQ(
      result.detail,
      "a function of the library threw an exception in phase \"populate\": the contract forbids "
      "this; every function must catch its exceptions and return FAILURE");
  EXPECT_NE(result.hang.find(": insertRecord(\"numbers\", "), std::string::npos) << result.hang;
}

TEST_F(VerifiedTest, NamesTheCallThatDoesNotReturn) {
  JailOptions impatient = options("hang_in_create");
  impatient.plan.limits.phase_timeout_ms = 500;
  const SessionResult result = play(script(), impatient);
  ASSERT_EQ(result.stop, StopReason::kDeadline) << verdict_of(result);
  EXPECT_NE(result.hang.find("create"), std::string::npos) << result.hang;
  EXPECT_NE(result.hang.find("library.so"), std::string::npos)
      << "the stack of the library's thread\n"
      << result.hang;
}

TEST_F(VerifiedTest, DoesNotBelieveALibraryThatSaysItIsDone) {
  for (const char* library : {"early_done", "forges_done"}) {
    JailOptions impatient = options(library);
    impatient.plan.limits.phase_timeout_ms = 500;
    const SessionResult result = play(script(), impatient);
    EXPECT_NE(result.stop, StopReason::kNone) << library;
    EXPECT_NE(decide(result, judge::Findings(), "weak").name, "passed") << library;
  }
}

// A slot is the shared memory that carries the calls of one thread. The library can overwrite
// numbers, handles and codes in its slot. This must harm only its own calls: the driver neither
// crashes nor follows a pointer.
TEST_F(VerifiedTest, SurvivesALibraryThatScribblesOverItsSlot) {
  const testing::First first;
  JailOptions impatient = options("scribbles_slot");
  impatient.plan.limits.phase_timeout_ms = 500;
  const SessionResult result = play(script(), impatient);
  EXPECT_EQ(result.stop, StopReason::kDeadline) << verdict_of(result);
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "timed_out");
}

TEST_F(VerifiedTest, SaysWhenTheDriverCannotBeStarted) {
  JailOptions broken = options("honest");
  broken.plan.driver = "/nowhere/driver";
  const SessionResult result = play(script(), broken);
  EXPECT_EQ(result.stop, StopReason::kNotStarted);
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "infrastructure");
  EXPECT_NE(result.detail.find("/nowhere/driver"), std::string::npos) << result.detail;

  broken.plan.driver = "/bin/false";
  const SessionResult ended = play(script(), broken);
  EXPECT_EQ(decide(ended, judge::Findings(), "weak").name, "infrastructure") << ended.detail;
}

}  // namespace
}  // namespace keydrome
