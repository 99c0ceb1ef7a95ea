// Tests the limits and the command line that the referee passes to a jail.
#include "harness/referee/processes/jail_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

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

TEST(CheckMemory, NamesTheLimitAndTheMemory) {
  constexpr uint64_t kMachine = uint64_t{1000} << 20;
  EXPECT_TRUE(check_memory(uint64_t{899} << 20, kMachine).ok());
  EXPECT_TRUE(check_memory(UINT64_MAX, 0).ok()) << "the machine's memory is not known";
  // Less than the machine has, but more than a jail may use.
  const Result<void> much = check_memory(uint64_t{950} << 20, kMachine);
  ASSERT_FALSE(much.ok());
  EXPECT_EQ(much.error().message,
            "the instance may use 950 MiB, but a jail may use at most 900 MiB here, 90 % of the "
            "machine's 1000 MiB; choose a smaller scale, or set jail.memory_bytes in the plan");
}

}  // namespace
}  // namespace keydrome
