// Judging what was recorded: the phases' events as histories, certified.
//
// A phase that works on indexes of its own begins a new history: small ones are judged faster, and
// what is found in them is small.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"
#include "checker/history.h"

namespace keydrome {

// The rate of recorded stamps, for History::ticks_per_s: the referee runs on the machine that
// recorded, so its counter has the same rate. Measured once, in a moment.
uint64_t ticks_per_s();

// Calls visit(name, history) for each history of a run as it was recorded, with fingerprints for
// varchar keys, until it returns false. The name is that of its first phase.
void for_each_history(const Script& script, const Outcome& outcome,
                      const std::function<bool(const std::string& name, History history)>& visit);

// Adds a finding with a witness for each violation, named as in checker/violation.h; says
// not_judged() when the history is not whole or no answer was found. Nothing when no phase was
// recorded.
//
// That a transaction did not see what was committed before it began is the finding `stale_read`:
// required if `strict`, else a warning. It stands for itself: everything else is judged without
// real time, and `could_not_judge` is required too where that had no answer.
void judge_recorded(const Script& script, const Outcome& outcome, bool strict, Findings& findings);

}  // namespace keydrome
