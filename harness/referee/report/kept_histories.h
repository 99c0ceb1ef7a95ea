// Writes recorded histories (the calls of a session, i.e. of one repetition of a benchmark, with
// their results) to files. The program `certify` can judge the files again
// (docs/reference/history-format.md): it looks for an order of the transactions that explains all
// results.
#pragma once

#include <string>

#include "base/result.h"
#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"
#include "harness/referee/plan/plan.h"

namespace keydrome {

struct HistoryRequest {
  std::string folder;  // empty: write no histories
  bool all = false;    // also write histories that are correct
};

// Writes histories of a session to FOLDER/BENCHMARK-INSTANCE-SEED-PHASE.history, where PHASE is the
// history's first phase.
// - With `request.all`, writes every history.
// - Without `request.all`, certifies the histories again. Writes those that fail this check, those
//   that it cannot decide, and those that pass it with a warning. If a session was fully judged and
//   has neither a fault nor a warning, writes nothing.
Result<void> keep_histories(const HistoryRequest& request, const Plan& plan,
                            const script::Script& script, const script::Outcome& outcome,
                            const judge::Findings& findings);

}  // namespace keydrome
