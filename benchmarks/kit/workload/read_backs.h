// Read-backs: extra transactions that only read keys of the workload itself. They are added to each
// timed phase that contains writes. So a library cannot postpone the work of its writes until the
// clock has stopped.
//
//   - In between: at least 1 % of a thread's reads ask for keys that the thread wrote or deleted
//     earlier in the phase. Half of these reads ask for keys of its last 64 calls. If the phase
//     inserts, a thread makes at least one short scan for every thousand calls, from a random key.
//   - Closing reads: at the end of its program, each thread reads back random keys that it wrote or
//     deleted in the phase, and makes short scans from some of them.
//
// The gets read only keys that no other thread changes in the phase (phase_keys.h), so each result
// is known exactly. Enough gets are added that at least 1 % of a thread's reads have known results.
// At least 1,000 of its reads must have known results, or a tenth of its reads if that is less.
//
// Thread safety: only one thread at a time may add read-backs to a script.
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
