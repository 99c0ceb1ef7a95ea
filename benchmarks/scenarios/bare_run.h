// Bare runs: what a session does with handles and transactions that have ended, with keys of
// another type, with garbage around what counts. The steps are calls as they stand (kBareCall), so
// no order of transactions says what is right; the answers are written down with the steps.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/scenarios/finding_book.h"
#include "benchmarks/scenarios/plan.h"
#include "benchmarks/scenarios/vocabulary.h"

namespace keydrome::scenarios {

// What the judge has to know about the runs of a scenario, one for each of its key types.
struct ScriptedBare {
  uint32_t phase = 0;
  std::vector<Variant> variants;
  std::vector<Vocabulary> vocabularies;  // for each variant
};

// Appends the phase. Borrows `scenario`.
ScriptedBare script_bare(const Scenario& scenario, PoolNumbers& pools, ScriptBuilder& script);

void judge_bare(const Scenario& scenario, const ScriptedBare& scripted, const PhaseOutcome& outcome,
                FindingBook& book);

}  // namespace keydrome::scenarios
