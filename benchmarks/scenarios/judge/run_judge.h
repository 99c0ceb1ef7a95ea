// Judges one run of a scenario, a short script of API calls by one or more threads. A run is
// correct if all of these hold:
//
// - Some serial order of the committed transactions gives the recorded results
//   (checker/model/search_orders.h).
// - No transaction read a record that was never committed.
// - Every call returned a code that it may return.
// - A transaction that ran alone could commit.
// - If the scenario has one session (thread) and lists the correct results of a call, the call
//   returned one of them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/scenarios/judge/run_log.h"

namespace keydrome::scenarios {

// A violation that a run contains.
struct RunViolation {
  std::string name;
  Severity severity = Severity::kRequired;
  std::string rule;   // violated rule and violating call: a sentence without full stop
  Json witness = {};  // the proof: a cycle of transactions, if any (checker/witness/witness.h)
  // False if the recorded calls of the steps prove nothing, so that a finding must not show them.
  bool shows_calls = true;
};

// Returns the violations of a run. Returns none if the run is correct.
std::vector<RunViolation> judge_run(const Scenario& scenario, const Variant& variant,
                                    const ScriptedRun& run, const RunLog& log);

}  // namespace keydrome::scenarios
