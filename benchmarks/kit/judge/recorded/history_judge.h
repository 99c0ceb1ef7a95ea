// Judges the histories of a run. A history is all calls of consecutive phases with their results
// and times. Its events come from the log of a recorded phase, in which every call is logged, or
// from the words (8 bytes per call) that every phase leaves (script/word_events.h). The judge joins
// the events into histories and certifies each history with the checker (checker/). Certification
// proves that some serial order of the transactions gives every recorded result.
//
// A new history begins with each phase that itself creates all indexes that it opens. Short
// histories are certified faster, and their witnesses (the proofs of violations) are shorter.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"
#include "checker/history/history.h"

namespace keydrome::judge {

// Returns the number of timestamp ticks per second, for History::ticks_per_s. This code runs on
// the machine that recorded the timestamps, so it can measure the rate itself. The first call
// measures the rate, and later calls return the same value.
uint64_t ticks_per_s();

// Calls visit(name, history) for each history of a run, until `visit` returns false. `name` is the
// name of the history's first phase. String keys are hashes in a history, as in the log.
void for_each_history(
    const script::Script& script, const script::Outcome& outcome,
    const std::function<bool(const std::string& name, history::History history)>& visit);

// Certifies every phase that has events. Adds a finding with a witness for each violation, with a
// name from checker/certify/violation.h. Calls not_judged() if the history is incomplete or if the
// checker cannot decide.
//
// The finding `stale_read` reports a transaction that does not see data committed before it began.
// With `strict`, this finding fails the run. Otherwise the finding is only a warning. After a stale
// read, all other rules are judged without real-time order. If the checker cannot decide these
// rules, the required finding `could_not_judge` is added.
void judge_recorded(const script::Script& script, const script::Outcome& outcome, bool strict,
                    Findings& findings);

}  // namespace keydrome::judge
