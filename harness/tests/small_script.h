// Small scripts (lists of operations of all threads) that the tests of the harness play.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "benchmarks/kit/script/script.h"

namespace keydrome::testing {

inline format::Op op(format::OpCode code, uint32_t key = 0, uint32_t argument = 0,
                     uint8_t flags = 0) {
  return {.code = code,
          .flags = flags,
          .slot = 0,
          .kind = 0,
          .class_ = 0,
          .key = key,
          .payload = 0,
          .argument = argument};
}

inline script::PhaseScript phase(const char* name, std::vector<std::vector<format::Op>> threads,
                                 uint64_t trace_bytes) {
  script::PhaseScript result;
  result.name = name;
  result.timed = true;
  result.trace_capacity_bytes.assign(threads.size(), trace_bytes);
  result.threads = std::move(threads);
  return result;
}

// Returns a script in which `threads` threads insert distinct keys. Each insert is a transaction of
// its own (auto-commit). Each thread has `units` units of `inserts_per_unit` inserts. A unit is a
// part of a thread's operations that is never divided when the operations are handed out in pieces.
// At the end, one thread scans all records.
inline script::Script counting_script(uint32_t threads, uint32_t units, uint32_t inserts_per_unit) {
  script::Script script;
  script.indexes = {{"numbers", INT}};
  script.class_names = {"insert"};
  script.pools.payloads = {""};
  const uint32_t keys = threads * units * inserts_per_unit;
  for (uint32_t i = 0; i < keys; ++i) script.pools.int64_keys.push_back(i);
  script.phases.push_back(
      phase("create", {{op(format::OpCode::kCreate, 0, 0, format::kUnitStart)}}, 0));
  std::vector<std::vector<format::Op>> programs(threads);
  for (uint32_t thread = 0; thread < threads; ++thread) {
    for (uint32_t unit = 0; unit < units; ++unit) {
      programs[thread].push_back(op(format::OpCode::kOpen, 0, 0, format::kUnitStart));
      for (uint32_t i = 0; i < inserts_per_unit; ++i) {
        const uint32_t key = (unit * inserts_per_unit + i) * threads + thread;
        programs[thread].push_back(op(format::OpCode::kInsert, key, key, format::kAutoCommit));
      }
      programs[thread].push_back(op(format::OpCode::kClose));
    }
  }
  script.phases.push_back(phase("populate", std::move(programs), 0));
  const uint32_t limit = keys + 1;
  script.phases.push_back(
      phase("verify",
            {{op(format::OpCode::kOpen, 0, 0, format::kUnitStart), op(format::OpCode::kBegin, 0, 2),
              op(format::OpCode::kNextToEnd, 0, limit, format::kEvidenceAll),
              op(format::OpCode::kCommit), op(format::OpCode::kClose)}},
            uint64_t{limit} * 48));
  script.phases.back().timed = false;
  script.phases.back().verifies = true;
  return script;
}

// Returns a counting script for one thread in which each unit begins with an operation kUntil. If
// the time in kUntil has passed, the thread skips the rest of its operations. The times of the
// first half of the units are days ahead. Those of the second half have passed when the phase
// begins.
inline script::Script counting_until(uint32_t units, uint32_t inserts_per_unit) {
  script::Script script = counting_script(1, units, inserts_per_unit);
  std::vector<format::Op> ops;
  uint32_t unit = 0;
  for (const format::Op& next : script.phases[1].threads[0]) {
    if (next.code == format::OpCode::kOpen) {
      constexpr uint32_t kDay = 86'400;  // in units of 2^32 ns: more than four days
      format::Op until = op(format::OpCode::kUntil, 0, 0, format::kUnitStart);
      until.payload = unit++ < units / 2 ? kDay : 0;
      ops.push_back(until);
    }
    ops.push_back(next);
  }
  script.phases[1].threads[0] = std::move(ops);
  return script;
}

}  // namespace keydrome::testing
