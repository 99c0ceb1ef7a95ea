// The programs of a scenario's runs: one phase of its own, one thread for each session.
//
// A run: the first thread creates and fills indexes that no other run uses; all open them; the
// steps are taken in turn (benchmarks/kit/baton.h), each passed over when it is not back in time;
// when all are through, the first thread inserts one more record and reads everything in one
// transaction, which shows what is really there and that a lone transaction gets through.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/script_builder.h"
#include "benchmarks/scenarios/plan.h"
#include "benchmarks/scenarios/vocabulary.h"

namespace keydrome::scenarios {

// What the judge has to know about a run.
struct ScriptedRun {
  uint32_t first_index = 0;  // number of index A in the script; B and C follow
  Vocabulary vocabulary;
};

struct ScriptedScenario {
  uint32_t phase = 0;
  std::vector<ScriptedRun> runs;  // for each variant
};

// Appends the phase. `patience_us`: how long a step may keep the others waiting. Borrows `planned`.
ScriptedScenario script_scenario(const PlannedScenario& planned, uint32_t patience_us,
                                 uint32_t class_number, PoolNumbers& pools, ScriptBuilder& script);

}  // namespace keydrome::scenarios
