// The numbers of a report, from the facts of a session.
//
// Counters come from the player and are plausible, not proven; wall and CPU times come from outside
// the jail. What is unknown is absent.
#pragma once

#include "base/json.h"
#include "benchmarks/kit/workload.h"
#include "harness/referee/run.h"

namespace keydrome {

// The members `metrics`, `latency` and, when a timed phase ended, `throughput` of the report.
// `workload` adds its own; null: there is none, because nothing was played.
void add_metrics(const Script& script, const Workload* workload, const RunFacts& facts,
                 Json& report);

}  // namespace keydrome
