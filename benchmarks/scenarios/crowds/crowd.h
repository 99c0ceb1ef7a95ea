// Crowds: scenarios (tests that each reveal one kind of error) with loops and many threads, which
// a short list of steps cannot express. The files data/*.json give the kind of a crowd and its
// numbers of threads, rounds and records. The code of each kind writes the programs and judges the
// results.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/scenarios/judge/finding_book.h"
#include "benchmarks/scenarios/script/scenario.h"
#include "benchmarks/scenarios/script/vocabulary.h"

namespace keydrome::scenarios {

// The phase and indexes of a crowd, which the judge needs.
struct ScriptedCrowd {
  uint32_t phase = 0;
  uint32_t first_index = 0, indexes = 0;  // its first index in the script, and how many it has
};

// Returns true if `kind` is a kind of crowd.
bool is_crowd_kind(std::string_view kind);

// Returns the names of all kinds of crowds for an error, such as "torn_commit, torn_abort".
std::string crowd_kind_names();

// Appends the phase of a crowd. The crowd's indexes have keys of `type`, and `suffix` makes their
// names unique.
ScriptedCrowd script_crowd(const Scenario& scenario, const std::string& suffix, KeyType type,
                           uint32_t class_number, PoolNumbers& pools,
                           script::ScriptBuilder& script);

// Adds a finding if the outcome violates the rule of the crowd.
void judge_crowd(const Scenario& scenario, const ScriptedCrowd& scripted,
                 const script::PhaseOutcome& outcome, FindingBook& book);

}  // namespace keydrome::scenarios
