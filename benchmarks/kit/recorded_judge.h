// Judging what was recorded: the phases' events as histories, certified.
//
// A phase that works on indexes of its own begins a new history: small ones are judged faster, and
// what is found in them is small.
#pragma once

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// The rate of recorded stamps: the referee runs on the machine that recorded, so its counter has
// the same rate. Takes a moment to measure.
double ticks_per_us();

// Adds a finding with a witness for each violation, named as in checker/violation.h; says
// not_judged() when the history is not whole or no answer was found. Nothing when no phase was
// recorded.
//
// That a transaction did not see what was committed before it began is the finding `stale_read`:
// required if `strict`, else a warning. It stands for itself: everything else is judged without
// real time, and `could_not_judge` is required too where that had no answer.
void judge_recorded(const Script& script, const Outcome& outcome, bool strict, Findings& findings);

}  // namespace keydrome
