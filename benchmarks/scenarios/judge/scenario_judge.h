// Judges all runs of a scenario (a short script that reveals one kind of error) and adds findings
// that explain the violations in words.
#pragma once

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/scenarios/judge/finding_book.h"
#include "benchmarks/scenarios/judge/run_judge.h"

namespace keydrome::scenarios {

// Adds one finding for each kind of violation, with the run that shows the violation.
void judge_scenario(const PlannedScenario& planned, const ScriptedScenario& scripted,
                    const script::PhaseOutcome& outcome, FindingBook& book);

}  // namespace keydrome::scenarios
