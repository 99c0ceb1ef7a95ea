// Decides before a session is generated whether it fits the memory of the machine, and how much of
// the memory the library may use.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "benchmarks/kit/workload/parameters.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {

// What a session would need, in bytes.
struct MemoryNeed {
  uint64_t referee_bytes = 0;  // operations, results and the expected state, outside the jail
  uint64_t library_bytes = 0;  // the limit of the jail
  uint64_t total() const { return referee_bytes + library_bytes; }
  // Returns what the session uses at least if the library reaches its limit. The estimate of the
  // referee's memory is at most four times what it uses (tests/test_memory_demand.py).
  uint64_t least() const { return referee_bytes / 4 + library_bytes; }
};

// The machine's memory that a session may use: the rest is for the kernel and other programs.
inline constexpr uint64_t kMemoryPercentMax = 90;

// Returns the need of a session with these parameters. The jail's limit is `limit_bytes`. If
// `limit_bytes` is 0, the limit is `least_bytes`, or more if the records need more. The result
// depends on the arguments alone, so a library has the same limit on every machine.
MemoryNeed memory_need(const workload::Workload& workload, const workload::Parameters& parameters,
                       uint64_t least_bytes, uint64_t limit_bytes);

// Returns the need of a session, or an error if the need surely exceeds what a machine with
// `machine_bytes` of memory may give. The error contains the sum, and the largest value of one
// parameter that fits. `manifest` is the benchmark's. If `machine_bytes` is 0, the memory is unknown and every session fits.
// Takes less than a millisecond.
Result<MemoryNeed> fit_memory(const workload::Workload& workload,
                              const workload::Manifest& manifest,
                              const workload::Parameters& parameters, uint64_t least_bytes,
                              uint64_t limit_bytes, uint64_t machine_bytes);

}  // namespace keydrome
