// Computes how much memory the evidence of a script, i.e. the results of single calls, needs. Some
// threads report whole results in a trace; the others report only 8 bytes per result. In recorded
// phases, all calls of all threads are in logs.
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
