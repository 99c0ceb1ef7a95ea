// Judging what was recorded: the phases' events as one history, certified.
#pragma once

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"
#include "checker/history.h"

namespace keydrome {

// The rate of recorded stamps: the referee runs on the machine that recorded, so its counter has
// the same rate. Takes a moment to measure.
double ticks_per_us();

// The recorded phases of an outcome one after the other, thread by thread; keys are ranked. An
// error when the events make no history.
Result<History> recorded_history(const Script& script, const Outcome& outcome);

// Adds a finding with a witness for each violation, named as in checker/violation.h; says
// not_judged() when the history is not whole or no answer was found. Nothing when no phase was
// recorded. Not `strict`: that a transaction did not see what was committed before it began is a
// warning.
void judge_recorded(const Script& script, const Outcome& outcome, bool strict, Findings& findings);

}  // namespace keydrome
