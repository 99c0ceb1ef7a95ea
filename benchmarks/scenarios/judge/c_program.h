// Writes a C program that repeats a failed run of a scenario, a short script of API calls
// (checker/witness/c_program.h).
#pragma once

#include <string>

#include "benchmarks/scenarios/judge/run_judge.h"
#include "benchmarks/scenarios/judge/run_log.h"

namespace keydrome::scenarios {

// Returns the text of the program. Returns an empty text in these cases:
// - The calls that the program makes do not show the violation (program_log.h). The program would
//   then give the same result with a correct library.
// - The run has hundreds of records or calls, because such a program is too long to read.
// - A session (client thread) has two handles of one index, because the recorded calls do not
//   distinguish them.
std::string c_program(const Scenario& scenario, const Variant& variant, const ScriptedRun& run,
                      const RunLog& log, const RunViolation& violation);

}  // namespace keydrome::scenarios
