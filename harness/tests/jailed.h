// Playing hand-made scripts through the real jail, against the libraries of tests/faulty.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/referee/run.h"

namespace keydrome::testing {

inline Op op(OpCode code, uint32_t key = 0, uint32_t argument = 0, uint8_t flags = 0) {
  return {.code = code,
          .flags = flags,
          .slot = 0,
          .kind = 0,
          .class_ = 0,
          .key = key,
          .payload = 0,
          .argument = argument};
}

inline PhaseScript phase(const char* name, std::vector<std::vector<Op>> threads,
                         uint64_t trace_bytes) {
  PhaseScript result;
  result.name = name;
  result.timed = true;
  result.trace_capacity_bytes.assign(threads.size(), trace_bytes);
  result.threads = std::move(threads);
  return result;
}

inline JailOptions options_for(const std::string& library) {
  JailOptions options;
  options.plan.benchmark = "test";
  options.plan.player = KEYDROME_PLAYER;
  options.plan.library.path = std::string(KEYDROME_FAULTY "/") + library + ".so";
  options.plan.jail.path = KEYDROME_JAIL;
  options.plan.jail.slot = 990;
  options.plan.jail.require = "weak";
  options.plan.limits.phase_timeout_ms = 60'000;
  options.wall_ms = 120'000;
  options.memory_bytes = uint64_t{512} << 20;
  options.tmpfs_bytes = 1 << 20;
  options.processes = 64;
  return options;
}

// An instruction, not a skip, where root is missing.
class JailedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(geteuid(), 0u) << "the jail needs root: run this test as root or with sudo";
  }
};

}  // namespace keydrome::testing
