// Decides whether a session (one repetition of a benchmark) fits the memory of the machine, and how
// much of the memory the library may use. The referee, the process that runs the session, decides
// this before it generates the operations.
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
  // Returns the memory that a session uses at least, if the library reaches its limit. The estimate
  // of the referee's memory is usually at most 1.5 times what the referee uses, so two thirds of
  // the estimate count. In some benchmarks the estimate is higher, up to 3.8 times (FACTORS of
  // tests/test_memory_demand.py). Such a session may be refused although it would fit.
  uint64_t least() const { return referee_bytes / 3 * 2 + library_bytes; }
};

// Percentage of the machine's memory that a session may use. The rest is for the kernel and other
// programs.
inline constexpr uint64_t kMemoryPercentMax = 90;

// What decides about the memory of a session besides its parameters.
struct MemoryRules {
  // The library's limit is `limit_bytes`. If that is 0, the limit is computed from the number of
  // records, but is at least `least_bytes`.
  uint64_t least_bytes = 0;
  uint64_t limit_bytes = 0;
  uint64_t machine_bytes = 0;  // the machine's memory; 0: unknown, so every number of bytes fits
  bool certify = false;        // the history of calls is kept, and checked after the session
  // A file whose keys replace those of the benchmark; null: there is no such file.
  const workload::KeyFile* keys = nullptr;
  bool plays_trace = false;  // a recorded trace, not the parameters, sets the session's size
};

// Returns the need of a session with these parameters. The result does not depend on the machine,
// so a library has the same limit everywhere.
MemoryNeed memory_need(const workload::Workload& workload, const workload::Parameters& parameters,
                       const MemoryRules& rules);

// Returns the memory that the referee may use in a session. This is the part of the machine's
// memory that a session may use, minus the library's limit, but no more than is available now. If
// `machine_bytes` is 0, the machine's memory is unknown, and the result is so large that it bounds
// nothing. REQUIRES: the need fits (fit_memory()).
uint64_t referee_bound(const MemoryNeed& need, uint64_t machine_bytes, uint64_t available_bytes);

// Returns the need of a session. Returns an error if the need (MemoryNeed::least()) exceeds the
// memory that a session may use. Also returns an error if the session has more keys, payloads or
// strings than the operations can number, or more keys than the file of keys. The error names the
// need, and the parameter that must be lowered least, with the largest value that fits. `manifest`
// describes the benchmark's parameters. Takes a few milliseconds at most.
Result<MemoryNeed> fit_memory(const workload::Workload& workload,
                              const workload::Manifest& manifest,
                              const workload::Parameters& parameters, const MemoryRules& rules);

}  // namespace keydrome
