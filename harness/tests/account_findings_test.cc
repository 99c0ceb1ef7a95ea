// Tests account_findings.h and setup.h with invented measurements: the findings (entries of a
// report) about work that a library did while its time was not measured. The player is the process
// in the jail (sandbox) that runs the library.
#include "harness/referee/judging/account_findings.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "harness/referee/session/setup.h"

namespace keydrome {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Returns the result of a session (one repetition of a benchmark) with one timed phase of 1 s, in
// which only the player's main thread makes calls.
SessionResult one_phase() {
  SessionResult result;
  PhaseResult phase;
  phase.name = "test";
  phase.timed = true;
  phase.threads = phase.player_threads = 1;
  phase.wall_ns = 1'000'000'000;
  phase.cpu_us = 1'000'000;
  phase.threads_used = ThreadUse{.living_us = 1'000'000};
  result.phases = {phase};
  return result;
}

std::string finding(const SessionResult& result, Severity severity = Severity::kAdvisory) {
  judge::Findings findings("unit");
  add_account_findings(result, findings);
  if (findings.empty()) return "";
  EXPECT_EQ(findings.list().size(), 1u);
  EXPECT_EQ(findings.list()[0].severity, severity);
  return findings.list()[0].name;
}

TEST(AccountFindings, ThreadsThatCameAndWentAreFound) {
  SessionResult result = one_phase();
  PhaseResult& phase = result.phases[0];
  phase.threads_used->living_us = 500'000;  // CPU time of the player's main thread
  phase.cpu_us = 515'000;
  EXPECT_EQ(finding(result), "") << "5 ms and 1 % are allowed";
  phase.cpu_us = 515'001;
  EXPECT_EQ(finding(result), "unaccounted_threads");
  phase.threads_used->library_ended = 1;
  EXPECT_EQ(finding(result), "") << "a thread that ended in the phase may have used this time";
  phase.cpu_us = 1'515'001;
  EXPECT_EQ(finding(result), "unaccounted_threads");
  phase.player_threads = 2;
  EXPECT_EQ(finding(result), "") << "a thread of the player has ended, too";
  phase.player_threads = 1;
  phase.timed = false;
  EXPECT_EQ(finding(result), "");
  phase.timed = true;
  phase.threads_used.reset();
  EXPECT_EQ(finding(result), "") << "nothing is known about the threads";
}

TEST(AccountFindings, WorkOfTheKernelIsShown) {
  SessionResult result = one_phase();
  result.phases[0].kernel_cpu_us = {{"khugepaged", 10'000}};
  EXPECT_EQ(finding(result), "") << "1 % is allowed";
  result.phases[0].kernel_cpu_us["khugepaged"] = 10'001;
  EXPECT_EQ(finding(result), "kernel_work");
  result.phases[0].wall_ns = 1'000'000;
  result.phases[0].cpu_us = 1'000;
  result.phases[0].kernel_cpu_us["khugepaged"] = 1'000;
  EXPECT_EQ(finding(result), "") << "a millisecond is allowed in a short phase";
}

TEST(AccountFindings, WorkBeforeTheFirstTimedPhaseHasABudget) {
  SessionResult result = one_phase();
  result.loading = {.wall_ns = 1, .cpu_us = kSetupCpuUsMax, .memory_bytes = 192 * kMiB};
  EXPECT_EQ(finding(result, Severity::kRequired), "");
  result.loading.cpu_us = kSetupCpuUsMax + 1;
  EXPECT_EQ(finding(result, Severity::kRequired), "setup_budget");
  result.loading.cpu_us = 0;
  result.loading.memory_bytes = 192 * kMiB + 1;
  EXPECT_EQ(finding(result, Severity::kRequired), "setup_budget");
  result.memory_limit_bytes = 1024 * kMiB;
  EXPECT_EQ(finding(result, Severity::kRequired), "") << "a quarter of the limit is allowed";
  result.loading = {};
  EXPECT_EQ(finding(result, Severity::kRequired), "") << "nothing is known about loading";
}

TEST(Setup, IsLoadingAndTheUntimedPhasesCreate) {
  SessionResult result = one_phase();
  result.memory_before_loading_bytes = 10 * kMiB;
  result.loading = {.wall_ns = 1, .cpu_us = 1'000, .memory_bytes = 2 * kMiB};
  PhaseResult create;
  create.name = "create";
  create.cpu_us = 500;
  create.memory_bytes = 15 * kMiB;
  PhaseResult load = create;
  load.name = "load";
  result.phases.insert(result.phases.begin(), {create, load});
  EXPECT_EQ(setup_of(result).cpu_us, 1'500u);
  EXPECT_EQ(setup_of(result).memory_bytes, 5 * kMiB);
  result.phases[0].memory_bytes = 9 * kMiB;
  EXPECT_EQ(setup_of(result).memory_bytes, 0u) << "memory that shrank has a growth of 0";
  result.phases[0].timed = true;
  EXPECT_EQ(setup_of(result).cpu_us, 1'000u) << "a timed phase is no part of the setup";
  EXPECT_EQ(setup_of(result).memory_bytes, 2 * kMiB);
  result.loading.cpu_us.reset();
  EXPECT_EQ(setup_of(result).cpu_us, std::nullopt);
}

}  // namespace
}  // namespace keydrome
