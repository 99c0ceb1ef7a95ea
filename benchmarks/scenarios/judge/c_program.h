// Writes a C program that repeats a failed run of a scenario (checker/witness/c_program.h).
#pragma once

#include <string>

#include "benchmarks/scenarios/judge/run_judge.h"
#include "benchmarks/scenarios/judge/run_log.h"

namespace keydrome::scenarios {

// Returns the text of the program. Returns an empty text if the run has hundreds of records or
// calls, because such a program is too long to read. Also returns an empty text if a session has
// two handles of one index, because the recorded calls do not distinguish the handles.
std::string c_program(const Scenario& scenario, const Variant& variant,
                      const Vocabulary& vocabulary, const RunLog& log,
                      const RunViolation& violation);

}  // namespace keydrome::scenarios
