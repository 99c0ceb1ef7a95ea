// Read-backs: adds reads to timed phases that write, so that a library must do the work of its writes
// while the clock runs. They are transactions that only read, on keys of the workload itself.
//
//   - In between: of all reads of a thread, at least 1 % ask for keys that the thread wrote or deleted
//     earlier in the phase, half of them within its last 64 calls. If the phase inserts, a thread
//     makes at least one short scan for every thousand calls, from a random key.
//   - Closing reads: at the end of its program, each thread reads back random keys that it wrote or
//     deleted in the phase, and makes short scans from some of them.
//
// All keys of gets are fixed or own keys (phase_keys.h), so each result is known exactly. A thread
// gets as many as it needs to have max(1,000, 1 %) reads of such keys, in small phases fewer.
//
// Thread safety: a function for one thread.
#pragma once

#include <cstdint>

#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::workload {

// Returns how many of a thread's reads must have exactly known results, if so many are possible.
uint64_t known_reads_needed(uint64_t reads);
// Returns how many closing reads a thread makes. `thread_calls` is its part of the phase's calls.
uint64_t closing_reads_needed(uint64_t phase_calls, uint64_t thread_calls);

// Adds the read-backs to all timed phases of the script. `class_number` is their transaction class.
// REQUIRES: the programs of these phases are complete.
void add_read_backs(script::ScriptBuilder& script, uint64_t seed, uint32_t class_number);

}  // namespace keydrome::workload
