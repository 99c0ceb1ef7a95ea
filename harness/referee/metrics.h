// The numbers of a report, from the facts of a session.
//
// Counters come from the player and are plausible, not proven; wall and CPU times come from outside the jail. What is
// unknown is absent.
#pragma once

#include "base/json.h"
#include "benchmarks/kit/workload.h"
#include "harness/referee/run.h"

namespace keydrome {

// The object `metrics`. Transaction counts are those of the main phase: the last timed one.
Json metrics_of(const Script& script, const RunFacts& facts);

// The array `latency`: per transaction class of the main phase. Empty when there is none.
Json latency_of(const Script& script, const RunFacts& facts);

// The object `throughput` of the main phase; null when there is none.
Json throughput_of(const Script& script, const RunFacts& facts);

}  // namespace keydrome
