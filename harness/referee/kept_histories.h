// Keeping what was recorded, as files that the program `certify` judges again
// (docs/reference/history-format.md).
#pragma once

#include <string>

#include "base/result.h"
#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"
#include "harness/referee/plan.h"

namespace keydrome {

struct HistoryRequest {
  std::string folder;  // empty: keep nothing
  bool all = false;    // also those in which nothing is wrong
};

// Writes BENCHMARK-INSTANCE-SEED-PHASE.history for each history of the session that the checker
// does not certify without a warning, named after its first phase. Judges again, so only where
// there are findings.
Result<void> keep_histories(const HistoryRequest& request, const Plan& plan, const Script& script,
                            const Outcome& outcome, const Findings& findings);

}  // namespace keydrome
