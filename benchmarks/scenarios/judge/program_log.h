// program_log(): the part of a run of a scenario (a short script of API calls) that a C program
// repeats (c_program.h). The program is written for the author of the library if the run has a
// violation. The program shows the violation only if this part contains the violation.
#pragma once

#include <cstdint>

#include "benchmarks/scenarios/judge/run_log.h"

namespace keydrome::scenarios {

// The maximum number of surrounding records of an index in a program. Thousands of inserts would
// hide the calls that matter.
inline constexpr uint32_t kProgramFillersMax = 20;

// Returns the log that the program would produce if the steps gave the same results as in `log`:
// - The calls that set up the run succeed, and there are few surrounding records.
// - The calls of the steps have the recorded results.
// - The scan at the end returns the recorded records and every surrounding record. The program
//   ignores the surrounding records that the library returns.
RunLog program_log(const Scenario& scenario, const Variant& variant, const Vocabulary& vocabulary,
                   const RunLog& log);

}  // namespace keydrome::scenarios
