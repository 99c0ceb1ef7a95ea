// The judge of a scenario: all of its runs, as findings that a newcomer understands.
#pragma once

#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/scenarios/finding_book.h"
#include "benchmarks/scenarios/run_judge.h"

namespace keydrome::scenarios {

void judge_scenario(const PlannedScenario& planned, const ScriptedScenario& scripted,
                    const PhaseOutcome& outcome, FindingBook& book);

}  // namespace keydrome::scenarios
