// Computes how much memory the evidence of a script needs. Evidence is the results of single calls.
// It is in the traces of the threads (selected threads, whole results) and in the logs of recorded
// phases (all calls).
//
// Thread safety: pure functions of their arguments.
#pragma once

#include "benchmarks/kit/script/script.h"

namespace keydrome::script {

// Sets the trace capacities of all phases. They depend on the longest key, so this function must be
// called again if the keys of a script are replaced.
void set_trace_capacities(Script& script);

// Sets the log capacities of a phase of the script, which makes it a recorded phase.
void record_phase(Script& script, PhaseScript& phase);

}  // namespace keydrome::script
