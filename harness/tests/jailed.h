// Playing hand-made scripts through the real jail, against the libraries of tests/faulty.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/referee/run.h"
#include "harness/referee/verdict.h"

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

// Threads insert distinct keys, each in units of so many, then one thread reads them all.
inline Script counting_script(uint32_t threads, uint32_t units, uint32_t inserts_per_unit) {
  Script script;
  script.indexes = {{"numbers", INT}};
  script.class_names = {"insert"};
  script.pools.payloads = {""};
  const uint32_t keys = threads * units * inserts_per_unit;
  for (uint32_t i = 0; i < keys; ++i) script.pools.int64_keys.push_back(i);
  script.phases.push_back(phase("create", {{op(OpCode::kCreate, 0, 0, kUnitStart)}}, 0));
  std::vector<std::vector<Op>> programs(threads);
  for (uint32_t thread = 0; thread < threads; ++thread) {
    for (uint32_t unit = 0; unit < units; ++unit) {
      programs[thread].push_back(op(OpCode::kOpen, 0, 0, kUnitStart));
      for (uint32_t i = 0; i < inserts_per_unit; ++i) {
        const uint32_t key = (unit * inserts_per_unit + i) * threads + thread;
        programs[thread].push_back(op(OpCode::kInsert, key, key, kAutoCommit));
      }
      programs[thread].push_back(op(OpCode::kClose));
    }
  }
  script.phases.push_back(phase("populate", std::move(programs), 0));
  const uint32_t limit = keys + 1;
  script.phases.push_back(phase(
      "verify",
      {{op(OpCode::kOpen, 0, 0, kUnitStart), op(OpCode::kBegin, 0, 2),
        op(OpCode::kNextToEnd, 0, limit, kEvidenceAll), op(OpCode::kCommit), op(OpCode::kClose)}},
      uint64_t{limit} * 48));
  script.phases.back().timed = false;
  script.phases.back().verifies = true;
  return script;
}

// For the message of a failed expectation.
inline std::string verdict_of(const RunFacts& facts) {
  const RunVerdict verdict = decide(facts, Findings(), "weak");
  return verdict.name + ": " + verdict.reason + facts.standard_errors;
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
