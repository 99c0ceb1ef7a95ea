// Helpers for tests that play small scripts (lists of operations) in the real jail (sandbox), with
// the libraries of tests/faulty. Most of these libraries have a deliberate fault; `honest` has
// none.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <string>

#include "harness/bench/local_slot.h"
#include "harness/referee/judging/verdict.h"
#include "harness/referee/session/conductor.h"
#include "harness/tests/small_script.h"

namespace keydrome::testing {

// Returns verdict, reason and standard error, for the message of a failed expectation.
inline std::string verdict_of(const SessionResult& result) {
  const RunVerdict verdict = decide(result, judge::Findings(), "weak");
  return verdict.name + ": " + verdict.reason + result.standard_errors;
}

inline JailOptions options_for(const std::string& library) {
  JailOptions options;
  options.plan.benchmark = "test";
  options.plan.player = KEYDROME_PLAYER;
  options.plan.library.path = std::string(KEYDROME_FAULTY "/") + library + ".so";
  options.plan.jail.path = KEYDROME_JAIL;
  options.plan.jail.slot = local_slot();
  options.plan.jail.require = "weak";
  options.plan.limits.phase_timeout_ms = 60'000;
  options.wall_ms = 120'000;
  options.memory_bytes = uint64_t{512} << 20;
  options.tmpfs_bytes = 1 << 20;
  options.processes = 64;
  return options;
}

// While the object exists, this process and the processes that it starts have real-time priority.
// So they run before all ordinary programs. A test that expects the verdict `timed_out` needs this:
// on a busy machine, the verdict may be `infrastructure`.
class First {
 public:
  First() {
    const sched_param first{.sched_priority = 1};
    EXPECT_EQ(sched_setscheduler(0, SCHED_RR, &first), 0);
  }
  First(const First&) = delete;
  First& operator=(const First&) = delete;
  ~First() {
    const sched_param ordinary{};
    sched_setscheduler(0, SCHED_OTHER, &ordinary);
  }
};

// Fails with an instruction if the tests do not run as root. Skipping would hide that the tests did
// not run.
class JailedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(geteuid(), 0u) << "the jail needs root: run this test as root or with sudo";
  }
};

}  // namespace keydrome::testing
