// Tests what the referee, the process that runs a session (one repetition of a benchmark),
// measures: CPU time, threads and memory of hostile libraries in the real jail (sandbox). Needs
// root.
#include <gtest/gtest.h>

#include <string>

#include "harness/referee/judging/account_findings.h"
#include "harness/referee/session/conductor.h"
#include "harness/referee/session/setup.h"
#include "harness/tests/jailed.h"

namespace keydrome {
namespace {

using testing::JailedTest;
using testing::options_for;
using testing::verdict_of;

constexpr uint64_t kMiB = uint64_t{1} << 20;

class AccountsRunTest : public JailedTest {
 protected:
  // Plays a session in which one thread inserts 20,000 records.
  static SessionResult played(const std::string& library_path) {
    JailOptions options = options_for("honest");
    if (!library_path.empty()) options.plan.library.path = library_path;
    SessionResult result = play(testing::counting_script(1, 20, 1'000), options, {});
    EXPECT_EQ(result.stage, Stage::kComplete) << verdict_of(result);
    return result;
  }
  static SessionResult hostile(const std::string& id) {
    return played(std::string(KEYDROME_HOSTILE "/") + id + ".so");
  }
  static uint64_t bytes(const std::optional<uint64_t>& value) { return value.value_or(0); }
};

TEST_F(AccountsRunTest, AnHonestLibraryHasNoThreadsAndNoFindings) {
  const SessionResult result = played("");
  judge::Findings findings("test");
  add_account_findings(result, findings);
  EXPECT_FALSE(findings.failed());
  EXPECT_EQ(findings.count("unaccounted_threads"), 0u);
  EXPECT_GT(bytes(result.memory_before_loading_bytes), 0u);
  EXPECT_GT(result.loading.wall_ns, 0u);
  EXPECT_GT(result.loading.cpu_us.value_or(0), 0u);
  EXPECT_LT(setup_of(result).cpu_us.value_or(kSetupCpuUsMax), kSetupCpuUsMax / 4);
  EXPECT_LT(bytes(setup_of(result).memory_bytes), 16 * kMiB);
  for (const PhaseResult& phase : result.phases) {
    ASSERT_TRUE(phase.threads_used) << phase.name;
    EXPECT_EQ(phase.threads_used->library_threads, 0u) << phase.name;
    EXPECT_EQ(phase.threads_used->library_us, 0u) << phase.name;
    // The kernel's accounts of a group and of its threads differ by some microseconds.
    EXPECT_LE(phase.threads_used->living_us, phase.cpu_us.value_or(0) + 1'000) << phase.name;
  }
}

// The hostile library D16 (tests/hostile) starts a thread in the first call of create. This thread
// computes without end.
TEST_F(AccountsRunTest, AThreadOfTheLibraryIsCountedWithItsTime) {
  const SessionResult result = hostile("D16");
  uint64_t library_us = 0;
  for (const PhaseResult& phase : result.phases) {
    ASSERT_TRUE(phase.threads_used) << phase.name;
    EXPECT_EQ(phase.threads_used->library_threads, 1u) << phase.name;
    library_us += phase.threads_used->library_us;
  }
  EXPECT_GT(library_us, 0u);
}

// The hostile library D52 allocates 48 MiB in its constructor and frees them while records are
// inserted.
TEST_F(AccountsRunTest, MemoryOfAConstructorCounts) {
  const SessionResult result = hostile("D52");
  EXPECT_GE(bytes(result.loading.memory_bytes), 47 * kMiB);
  const uint64_t before = bytes(result.memory_before_loading_bytes);
  EXPECT_LT(before, 16 * kMiB);
  ASSERT_EQ(result.phases.size(), 3u);
  // The memory after phase populate is smaller than at the end of loading, but larger than before
  // loading.
  EXPECT_LT(bytes(result.phases[1].memory_bytes), before + bytes(result.loading.memory_bytes));
  EXPECT_GT(bytes(result.phases[1].memory_bytes), before + kMiB) << "20,000 records need memory";
}

// The hostile library D52b fills the unused part of the outcome, the memory for results, in phase
// create. It prints HOLE if some of this data is left in phase populate.
TEST_F(AccountsRunTest, TheMemoryForResultsKeepsNoDataFromPhaseToPhase) {
  const SessionResult result = hostile("D52b");
  EXPECT_NE(result.standard_output.find("D52b call: tried"), std::string::npos);
  EXPECT_NE(result.standard_output.find("D52b close: tried"), std::string::npos);
  EXPECT_EQ(result.standard_output.find("HOLE"), std::string::npos) << result.standard_output;
}

// The hostile library D53b allocates 320 MiB in its constructor. The budget is 192 MiB here.
TEST_F(AccountsRunTest, MemoryBeforeTheClockHasABudget) {
  const SessionResult result = hostile("D53b");
  judge::Findings findings("test");
  add_account_findings(result, findings);
  EXPECT_EQ(findings.count("setup_budget"), 1u);
  EXPECT_TRUE(findings.failed());
}

}  // namespace
}  // namespace keydrome
