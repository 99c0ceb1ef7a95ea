// Decides before a session is generated whether it fits the memory of the machine, and how much of
// the memory the library may use.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "benchmarks/kit/workload/key_file/key_file.h"
#include "benchmarks/kit/workload/parameters.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {

// What a session would need, in bytes.
struct MemoryNeed {
  uint64_t referee_bytes = 0;  // operations, results and the expected state, outside the jail
  uint64_t library_bytes = 0;  // the limit of the jail
  uint64_t total() const { return referee_bytes + library_bytes; }
  // Returns what most sessions use at least if the library reaches its limit. The estimate of the
  // referee's memory is at most 1.5 times what it uses, but up to 2.3 times in linkbench and tpcw
  // (FACTORS of tests/test_memory_demand.py).
  uint64_t least() const { return referee_bytes / 3 * 2 + library_bytes; }
};

// The machine's memory that a session may use: the rest is for the kernel and other programs.
inline constexpr uint64_t kMemoryPercentMax = 90;

// What decides about the memory of a session besides its parameters.
struct MemoryRules {
  uint64_t least_bytes = 0;  // the library's limit is at least this
  uint64_t limit_bytes =
      0;  // the library's limit; 0: least_bytes, or more if the records need more
  uint64_t machine_bytes = 0;  // the machine's memory; 0: unknown, so every number of bytes fits
  bool certify = false;        // the history of calls is kept and certified
  const workload::KeyFile* keys = nullptr;  // replace the keys of the workload; null: none do
};

// Returns the need of a session with these parameters. The result does not depend on the machine, so a
// library has the same limit everywhere.
MemoryNeed memory_need(const workload::Workload& workload, const workload::Parameters& parameters,
                       const MemoryRules& rules);

// Returns the memory that the referee may use in a session: what the machine's memory leaves if the
// library reaches its limit, but no more than is available now. If `machine_bytes` is 0, the memory is
// unknown, and the result is no bound. REQUIRES: the need fits (fit_memory()).
uint64_t referee_bound(const MemoryNeed& need, uint64_t machine_bytes, uint64_t available_bytes);

// Returns the need of a session. Returns an error if the need surely exceeds what the machine may give,
// or if the session has more keys than a script can number or than the file has. The error contains the
// sum, and the largest value of one parameter that fits. `manifest` is the benchmark's. Takes a few milliseconds at most.
Result<MemoryNeed> fit_memory(const workload::Workload& workload,
                              const workload::Manifest& manifest,
                              const workload::Parameters& parameters, const MemoryRules& rules);

}  // namespace keydrome
