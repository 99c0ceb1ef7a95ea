// A failed run of a scenario as a C program that plays it again (checker/c_program.h).
#pragma once

#include <string>

#include "benchmarks/scenarios/run_judge.h"
#include "benchmarks/scenarios/run_log.h"

namespace keydrome::scenarios {

// Empty where a program would say nothing: for a session with two handles of one index (the
// recorded calls do not tell which), and for hundreds of records or calls.
std::string c_program(const Scenario& scenario, const Variant& variant,
                      const Vocabulary& vocabulary, const RunLog& log,
                      const Accusation& accusation);

}  // namespace keydrome::scenarios
