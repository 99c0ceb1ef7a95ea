// Tests pinned phases, in which each thread that calls the library is bound to one CPU. They run in
// the real jail (sandbox), with a library that prints on which CPUs its callers may run. Needs
// root.
#include <sched.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "harness/tests/jailed.h"

namespace keydrome {
namespace {

using testing::options_for;
using testing::verdict_of;

constexpr uint32_t kThreads = 5;
constexpr uint32_t kPopulate = 1;

class PinningTest : public testing::JailedTest {
 protected:
  // What a thread printed: the number of CPUs on which it may run, and the one on which it ran.
  struct Seen {
    int cpus = 0, cpu = -1;
  };
  // What was printed, by call and key, such as "insert 2". Key i is the first key of thread i.
  using Lines = std::map<std::string, Seen>;

  static std::vector<int> own_cpus() {
    cpu_set_t all;
    CPU_ZERO(&all);
    EXPECT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &all)) cpus.push_back(cpu);
    }
    return cpus;
  }

  static Lines play(bool pinned, const JailOptions& options) {
    script::Script script = testing::counting_script(kThreads, 1, 200);
    script.phases[kPopulate].pinned = pinned;
    const SessionResult result = keydrome::play(script, options, {});
    EXPECT_EQ(result.stage, Stage::kComplete) << verdict_of(result);
    for (std::size_t i = 0; i < result.phases.size(); ++i) {
      EXPECT_EQ(result.phases[i].pinned, pinned && i == kPopulate);
    }
    Lines lines;
    std::istringstream output(result.standard_output);
    std::string call, key;
    for (Seen seen; output >> call >> key >> seen.cpus >> seen.cpu;) {
      if (call == "insert") call.append(" ").append(key);
      lines[call] = seen;
    }
    return lines;
  }

  // Expects that thread i was bound to CPU i of `cpus` in the phase with the inserts, and that no
  // thread was bound in the phases before and after. A thread that the library had started before
  // must never be bound.
  static void expect_bound(Lines lines, const std::vector<int>& cpus) {
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
      const Seen seen = lines["insert " + std::to_string(thread)];
      EXPECT_EQ(seen.cpus, 1) << "thread " << thread;
      EXPECT_EQ(seen.cpu, cpus[thread % cpus.size()]) << "thread " << thread;
    }
    EXPECT_EQ(lines["background"].cpus, static_cast<int>(cpus.size()));
    EXPECT_EQ(lines["create"].cpus, static_cast<int>(cpus.size()));
    // The library prints a line only if the number of CPUs has changed. With one CPU, it never
    // changes.
    if (cpus.size() > 1) {
      EXPECT_EQ(lines["begin"].cpus, static_cast<int>(cpus.size()));
    }
    EXPECT_FALSE(lines.contains("outside"));
  }
};

TEST_F(PinningTest, ThreadsOfAPinnedPhaseStayOnOneCpu) {
  expect_bound(play(true, options_for("tells_cpus")), own_cpus());
}

TEST_F(PinningTest, ThreadsOfOtherPhasesAreFree) {
  Lines lines = play(false, options_for("tells_cpus"));
  const auto all = static_cast<int>(own_cpus().size());
  EXPECT_EQ(lines["create"].cpus, all);
  // Thread 0 has printed its line in the phase "create", so it prints none for an insert.
  for (uint32_t thread = 1; thread < kThreads; ++thread) {
    EXPECT_EQ(lines["insert " + std::to_string(thread)].cpus, all) << "thread " << thread;
  }
}

TEST_F(PinningTest, ThreadsUseTheCpusOfTheJail) {
  JailOptions options = options_for("tells_cpus");
  const int last = own_cpus().back();
  options.plan.jail.cpus = std::to_string(last);
  Lines lines = play(true, options);
  for (uint32_t thread = 1; thread < kThreads; ++thread) {
    EXPECT_EQ(lines["insert " + std::to_string(thread)].cpu, last) << "thread " << thread;
  }
}

// In verified mode each thread has two sides: the driver plays the operations outside the jail, and
// the player calls the library. Only the threads of the player are bound.
TEST_F(PinningTest, VerifiedModeBindsTheThreadsThatCallTheLibrary) {
  JailOptions options = options_for("tells_cpus");
  options.plan.verified = true;
  options.plan.driver = KEYDROME_DRIVER;
  expect_bound(play(true, options), own_cpus());
}

}  // namespace
}  // namespace keydrome
