// Computes the numbers of a report from the result of a session (one repetition of a benchmark,
// with one library).
//
// Wall time, CPU time, memory and performance counters are measured outside the player, the jailed
// process with the library. Counts of calls and transactions, and latencies, come from the
// untrusted player. The referee, the trusted process, has checked that these numbers are plausible,
// but cannot prove them. An unknown number is absent from the report.
#pragma once

#include "base/json.h"
#include "benchmarks/kit/workload/workload.h"
#include "harness/referee/session/session_result.h"

namespace keydrome {

// Adds the members `metrics` and `latency` to the report, and `throughput` if the last timed phase
// ended. `workload`, the code of the benchmark, adds its own metrics; it is nullptr if nothing was
// played.
void add_metrics(const script::Script& script, const workload::Workload* workload,
                 const SessionResult& result, Json& report);

}  // namespace keydrome
