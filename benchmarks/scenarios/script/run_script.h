// Writes the programs of a scenario's runs: one phase per scenario, one thread per session. A
// scenario is a list of a few steps; a session is the client thread that executes some of them.
//
// In a run, the first thread creates the indexes, or empties those that earlier runs have used
// (shared_indexes.h), and fills them. All threads open the indexes. Then the sessions take turns
// step by step (benchmarks/kit/player/turns.h). If a step does not return in time, the other
// sessions continue without it. At the end the first thread inserts one more record and reads
// everything in one transaction. The reads show which records exist. The commit shows that a
// transaction that runs alone can commit.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/scenarios/script/plan.h"
#include "benchmarks/scenarios/script/shared_indexes.h"
#include "benchmarks/scenarios/script/vocabulary.h"

namespace keydrome::scenarios {

// The indexes and key values of a run, which the judge needs.
struct ScriptedRun {
  uint32_t first_index = 0;  // number of index A in the script; B and C have the next numbers
  // By index: true if the run begins by emptying the index, because an earlier run has used it.
  std::array<bool, kIndexesMax> emptied{};
  Vocabulary vocabulary;
};

struct ScriptedScenario {
  uint32_t phase = 0;
  std::vector<ScriptedRun> runs;  // one for each run of the plan, PlannedScenario::variants
};

// Appends the phase. `step_wait_us` is the time, in microseconds, that other sessions wait for a
// step. `planned` must outlive the result.
ScriptedScenario script_scenario(const PlannedScenario& planned, uint32_t step_wait_us,
                                 uint32_t class_number, SharedIndexes& shared, PoolNumbers& pools,
                                 script::ScriptBuilder& script);

}  // namespace keydrome::scenarios
