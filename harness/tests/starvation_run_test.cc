// Tests the finding (entry of the report) `hang` on a busy machine, in the real jail (sandbox). A
// library that is slow because other programs use its processors must not get the finding; a
// library that hangs must get it. Needs root.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "harness/tests/jailed.h"

namespace keydrome {
namespace {

using testing::op;
using testing::phase;

// While the object exists, this process and the processes that it starts run on one processor only.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;
  ~OneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

// Processes that compute on the processors of this process until the object is destroyed.
class Load {
 public:
  Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    for (const pid_t process : processes_) kill(process, SIGKILL);
    for (const pid_t process : processes_) waitpid(process, nullptr, 0);
  }

  // Starts processes, each in a Unix session of its own. On a kernel that divides the CPU time
  // among sessions (sched_autogroup), each process then gets the same share as the tested jail.
  void start(int processes) {
    for (int i = 0; i < processes; ++i) {
      const pid_t process = fork();
      if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        for (volatile uint64_t spins = 0;;) spins = spins + 1;
      }
      processes_.push_back(process);
    }
  }

 private:
  std::vector<pid_t> processes_;
};

// Number of other processes. With so many processes, a thread gets only a small part of the time of
// its processor.
constexpr int kHeavyLoad = 24;

// Returns a script (list of operations) whose second phase, "test", makes `count` gets of some 0.1
// us each.
script::Script gets(uint32_t count) {
  script::Script script;
  script.indexes = {{"numbers", INT}};
  script.class_names = {"all"};
  script.pools.payloads = {""};
  script.pools.int64_keys = {7};
  script.phases.push_back(
      phase("populate",
            {{op(format::OpCode::kCreate, 0, 0, format::kUnitStart), op(format::OpCode::kOpen),
              op(format::OpCode::kInsert, 0, 1, format::kAutoCommit)}},
            0));
  std::vector<format::Op> ops{op(format::OpCode::kOpen, 0, 0, format::kUnitStart)};
  ops.resize(1 + count, op(format::OpCode::kGet, 0, 0, format::kAutoCommit));
  script.phases.push_back(phase("test", {ops}, 0));
  return script;
}

// Returns a script whose only phase makes `count` inserts.
script::Script inserts(uint32_t count) {
  script::Script script = gets(0);
  std::vector<format::Op>& ops = script.phases[0].threads[0];
  for (uint32_t i = 1; i < count; ++i)
    ops.push_back(op(format::OpCode::kInsert, 0, i + 1, format::kAutoCommit));
  script.phases.pop_back();
  return script;
}

class StarvationTest : public testing::JailedTest {
 protected:
  // Plays the script. Other processes begin to compute before the phase `loaded`.
  static SessionResult play_among(int processes, const std::string& loaded,
                                  const script::Script& script, const JailOptions& options) {
    Load load;
    return play(script, options, [&](const Json& event) {
      const Json* name = event.find("name");
      const Json* kind = event.find("event");
      if (name == nullptr || kind->as_string() != "phase" || name->as_string() != loaded) return;
      load.start(processes);
    });
  }

  static JailOptions limited(const std::string& library, uint64_t phase_ms) {
    JailOptions options = testing::options_for(library);
    options.plan.limits.phase_timeout_ms = phase_ms;
    return options;
  }

  static std::size_t hangs(const SessionResult& result) {
    judge::Findings findings("test");
    add_session_findings({}, result, findings);
    return findings.count("hang");
  }
};

constexpr uint32_t kManyGets = 2'000'000;

TEST_F(StarvationTest, ARightLibraryThatIsStarvedDoesNotHang) {
  const OneProcessor one;
  const script::Script script = gets(kManyGets);
  const SessionResult result = play_among(kHeavyLoad, "test", script, limited("honest", 1'000));
  ASSERT_EQ(result.stop, StopReason::kDeadline) << result.detail;
  const RunVerdict verdict = decide(result, judge::Findings(), "weak");
  EXPECT_EQ(verdict.name, "infrastructure") << verdict.reason;
  EXPECT_NE(verdict.reason.find(". Other programs kept a thread of the run"), std::string::npos)
      << verdict.reason;
  EXPECT_EQ(hangs(result), 0u);
  const SessionResult alone = play(script, limited("honest", 60'000), {});
  EXPECT_EQ(alone.stop, StopReason::kNone) << testing::verdict_of(alone);
}

TEST_F(StarvationTest, ARightLibraryThatIsStarvedUntilTheLimitOfTheSessionDoesNotHang) {
  const OneProcessor one;
  JailOptions options = limited("honest", 60'000);
  options.wall_ms = 4'000;
  const SessionResult result = play_among(kHeavyLoad, "populate", gets(kManyGets), options);
  ASSERT_EQ(result.stop, StopReason::kLimit) << result.detail;
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "infrastructure") << result.detail;
}

TEST_F(StarvationTest, ARightLibraryThatIsStarvedInVerifiedModeDoesNotHang) {
  const OneProcessor one;
  JailOptions options = limited("honest", 1'000);
  options.plan.verified = true;
  options.plan.driver = KEYDROME_DRIVER;
  const SessionResult result = play_among(kHeavyLoad, "test", gets(kManyGets), options);
  ASSERT_EQ(result.stop, StopReason::kDeadline) << result.detail;
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "infrastructure") << result.detail;
}

TEST_F(StarvationTest, ABlockedLibraryHangsHoweverBusyTheMachine) {
  const OneProcessor one;
  const SessionResult result =
      play_among(kHeavyLoad, "populate", gets(1), limited("hang_in_create", 4'000));
  ASSERT_EQ(result.stop, StopReason::kDeadline) << result.detail;
  EXPECT_EQ(result.starved, "");
  EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "timed_out");
  EXPECT_EQ(hangs(result), 1u);
}

// The variable `first` gives this process real-time priority, which new processes inherit. The
// other processes must not have it, so they start before `first` exists.
TEST_F(StarvationTest, ALibraryThatSpinsOnItsProcessorHangsHoweverBusyTheMachine) {
  for (const int others : {0, 2}) {
    Load load;
    load.start(others);
    const testing::First first;
    const SessionResult result = play(inserts(100), limited("spin_for_ever", 1'000), {});
    ASSERT_EQ(result.stop, StopReason::kDeadline) << result.detail;
    EXPECT_EQ(result.starved, "") << others;
    EXPECT_EQ(decide(result, judge::Findings(), "weak").name, "timed_out");
    EXPECT_EQ(hangs(result), 1u);
  }
}

}  // namespace
}  // namespace keydrome
