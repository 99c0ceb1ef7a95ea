// Crowds: scenarios of loops and many threads, which no short list of steps can tell. The data says
// which kind, how many threads, rounds and records; what they do and what must come of it is here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/scenarios/finding_book.h"
#include "benchmarks/scenarios/scenario.h"
#include "benchmarks/scenarios/vocabulary.h"

namespace keydrome::scenarios {

// What the judge has to know about a crowd.
struct ScriptedCrowd {
  uint32_t phase = 0;
  uint32_t first_index = 0, indexes = 0;  // of the script
};

// Whether there is a crowd of that kind.
bool is_crowd_kind(std::string_view kind);

// Appends the phase of a crowd whose indexes have keys of `type`; `suffix` makes their names
// unique.
ScriptedCrowd script_crowd(const Scenario& scenario, const std::string& suffix, KeyType type,
                           uint32_t class_number, PoolNumbers& pools, ScriptBuilder& script);

void judge_crowd(const Scenario& scenario, const ScriptedCrowd& scripted,
                 const PhaseOutcome& outcome, FindingBook& book);

}  // namespace keydrome::scenarios
