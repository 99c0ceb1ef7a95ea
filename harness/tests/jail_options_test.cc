// Tests the limits and the command line that the referee, the process that runs a benchmark, passes
// to a jail, the sandbox of a library. Also tests the message about a jail that cannot start.
#include "harness/referee/processes/jail_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/referee/processes/jail_process.h"

namespace keydrome {
namespace {

// Returns the value of an option on the jail's command line, or "" if the option is absent.
std::string given(const JailOptions& options, std::string_view name) {
  const std::vector<std::string> arguments = jail_arguments(options);
  const auto at = std::find(arguments.begin(), arguments.end(), name);
  return at == arguments.end() ? "" : *(at + 1);
}

// The referee must reach each limit before the jail does, because it reports what the threads were
// doing. The jail would only kill them.
TEST(JailArguments, TheLimitsOfTheJailAreLongerThanThoseOfTheReferee) {
  JailOptions options;
  options.wall_ms = 5'000;
  EXPECT_EQ(given(options, "--wall-ms"), std::to_string(5'000 + kJailSpareMs));
  EXPECT_EQ(given(options, "--cpu-seconds"), "");
  options.plan.jail.cpu_seconds = 7;
  EXPECT_EQ(given(options, "--cpu-seconds"), std::to_string(7 + jail_spare_cpu_seconds()));
  options.plan.jail.cpu_seconds = INT32_MAX;
  EXPECT_EQ(given(options, "--cpu-seconds"), std::to_string(kJailCpuSecondsMax));
}

// The manifest describes a benchmark. The plan describes one session (repetition) of the benchmark.
// If an attempt ended undecided on a busy machine, the plan of the next attempt gives the session
// more time than the manifest does.
TEST(JailOptionsOfAPlan, TakeTheLimitOfTheSessionFromThePlanOrElseFromTheManifest) {
  Plan plan;
  plan.scale = "smoke";
  plan.limits.phase_timeout_ms = 60'000;
  workload::Manifest manifest;
  script::Script script;
  script.phases.resize(3);
  const auto wall_ms = [&] { return jail_options(plan, manifest, script, 1 << 20).wall_ms; };
  const uint64_t of_phases_ms = wall_ms();
  EXPECT_GT(of_phases_ms, 180'000u);
  manifest.limits["smoke"]["session_timeout_ms"] = 20'000;
  EXPECT_EQ(wall_ms(), 20'000u);
  plan.limits.session_timeout_ms = 60'000;
  EXPECT_EQ(wall_ms(), 60'000u);
  plan.verified = true;
  EXPECT_EQ(wall_ms(), of_phases_ms);
}

TEST(JailProcess, ThatCannotStartSaysWhatToDo) {
  JailOptions options;
  options.plan.jail.path = "/no/such/jail";
  const Result<JailProcess> started = JailProcess::start(options);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().message,
            "cannot start the jail /no/such/jail: No such file or directory; run ./dev build, or, "
            "in a plan of your own, correct the path");
}

}  // namespace
}  // namespace keydrome
