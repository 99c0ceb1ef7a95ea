// The judge of one run: is what was recorded what some serial order of the committed transactions
// would have given (checker/search_orders.h), was nothing seen that never was, did every call
// answer what it may, and did a lone transaction get through?
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "benchmarks/kit/finding.h"
#include "benchmarks/scenarios/run_log.h"

namespace keydrome::scenarios {

// What is wrong with a run.
struct Accusation {
  std::string name;
  Severity severity = Severity::kRequired;
  std::string rule;   // which rule is broken and by what, one sentence without full stop
  Json witness = {};  // the circle of transactions, if there is one (checker/witness.h)
};

// Empty: the run is right.
std::vector<Accusation> judge_run(const Scenario& scenario, const Variant& variant,
                                  const ScriptedRun& run, const RunLog& log);

}  // namespace keydrome::scenarios
