// Writes and judges bare runs: misuse of the API, such as closed handles, ended transactions, keys
// of the wrong type, and garbage in unused bytes. The player, the process that calls the library,
// makes the calls exactly as written (kBareCall). No serial order of transactions defines the
// correct results of misuse. Therefore the scenario, the list of the run's steps, gives the correct
// results of each step.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/scenarios/judge/finding_book.h"
#include "benchmarks/scenarios/script/plan.h"
#include "benchmarks/scenarios/script/vocabulary.h"

namespace keydrome::scenarios {

// What script_bare() has written and judge_bare() needs: the phase of a scenario, and its runs.
// There is one run for each key type.
struct ScriptedBare {
  uint32_t phase = 0;
  // Number of the first op (operation) that may break the rules of the API. The ops before it are
  // certainly legal.
  uint64_t first_misuse = 0;
  std::vector<Variant> variants;
  std::vector<Vocabulary> vocabularies;  // one for each variant
};

// Appends the phase with all runs to the script. `scenario` must outlive the result.
ScriptedBare script_bare(const Scenario& scenario, PoolNumbers& pools,
                         script::ScriptBuilder& script);

// Adds a finding for the first run with a wrong result.
void judge_bare(const Scenario& scenario, const ScriptedBare& scripted,
                const script::PhaseOutcome& outcome, FindingBook& book);

}  // namespace keydrome::scenarios
