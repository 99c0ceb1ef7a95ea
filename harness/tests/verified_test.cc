// Verified mode through the real jail: the driver plays outside, the library answers inside.
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
  static RunFacts play(const Script& script, const JailOptions& options) {
    return keydrome::play(script, options, {});
  }
};

Script script() { return testing::counting_script(kThreads, 1, kKeysPerThread); }

TEST_F(VerifiedTest, ReadsBackWhatWasInserted) {
  const RunFacts facts = play(script(), options("honest"));
  ASSERT_EQ(facts.stage, Stage::kComplete) << verdict_of(facts);
  for (const ThreadResult& thread : facts.outcome.phases[1].threads) {
    EXPECT_EQ(thread.counters->committed[0], kKeysPerThread);
    EXPECT_EQ(thread.counters->failed, 0u);
  }
  TraceReader trace(facts.outcome.phases[2].threads[0].trace);
  uint64_t records = 0;
  for (Evidence evidence{}; trace.next(evidence);) records += evidence.code == SUCCESS ? 1 : 0;
  EXPECT_EQ(records, kThreads * kKeysPerThread);
}

// The driver's own times are of this session, and no event is missing.
TEST_F(VerifiedTest, RecordsOutsideOfTheLibrary) {
  Script recorded = script();
  for (PhaseScript& phase : recorded.phases) {
    phase.log_capacity.assign(phase.threads.size(), uint64_t{2} * kKeysPerThread * kThreads);
  }
  const RunFacts facts = play(recorded, options("honest"));
  ASSERT_EQ(facts.stage, Stage::kComplete) << verdict_of(facts);
  for (const ThreadResult& thread : facts.outcome.phases[1].threads) {
    EXPECT_EQ(thread.events.size(), kKeysPerThread + 2u);
  }
}

TEST_F(VerifiedTest, CatchesAnException) {
  const RunFacts facts = play(script(), options("throws_exception"));
  EXPECT_EQ(facts.stop, Stop::kException) << verdict_of(facts);
  EXPECT_EQ(facts.detail,
            "an exception left the library in phase populate: the contract forbids this");
}

TEST_F(VerifiedTest, NamesTheCallThatDoesNotReturn) {
  JailOptions impatient = options("hang_in_create");
  impatient.plan.limits.phase_timeout_ms = 500;
  const RunFacts facts = play(script(), impatient);
  ASSERT_EQ(facts.stop, Stop::kDeadline) << verdict_of(facts);
  EXPECT_NE(facts.hang.find("create"), std::string::npos) << facts.hang;
  EXPECT_NE(facts.hang.find("library.so"), std::string::npos)
      << "the stack of the library's thread\n"
      << facts.hang;
}

TEST_F(VerifiedTest, DoesNotBelieveALibraryThatSaysItIsDone) {
  for (const char* library : {"early_done", "forges_done"}) {
    JailOptions impatient = options(library);
    impatient.plan.limits.phase_timeout_ms = 500;
    const RunFacts facts = play(script(), impatient);
    EXPECT_NE(facts.stop, Stop::kNone) << library;
    EXPECT_NE(decide(facts, Findings(), "weak").name, "passed") << library;
  }
}

// Numbers, handles and codes of its slot are the library's to spoil. Nothing but its own calls
// suffers: the driver neither crashes nor follows a pointer.
TEST_F(VerifiedTest, SurvivesALibraryThatScribblesOverItsSlot) {
  JailOptions impatient = options("scribbles_slot");
  impatient.plan.limits.phase_timeout_ms = 500;
  const RunFacts facts = play(script(), impatient);
  EXPECT_EQ(facts.stop, Stop::kDeadline) << verdict_of(facts);
  EXPECT_EQ(decide(facts, Findings(), "weak").name, "timed_out");
}

TEST_F(VerifiedTest, SaysWhenTheDriverCannotBeStarted) {
  JailOptions broken = options("honest");
  broken.plan.driver = "/nowhere/driver";
  const RunFacts facts = play(script(), broken);
  EXPECT_EQ(facts.stop, Stop::kNotStarted);
  EXPECT_EQ(decide(facts, Findings(), "weak").name, "infrastructure");
  EXPECT_NE(facts.detail.find("/nowhere/driver"), std::string::npos) << facts.detail;

  broken.plan.driver = "/bin/false";
  const RunFacts ended = play(script(), broken);
  EXPECT_EQ(decide(ended, Findings(), "weak").name, "infrastructure") << ended.detail;
}

}  // namespace
}  // namespace keydrome
