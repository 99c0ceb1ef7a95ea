// A C99 program that plays a recorded run again against contract A and nothing else, for the
// contestant's own debugger: one thread for each session, the calls in the order in which they were
// made, each with the answer that it gave in the failed run.
#pragma once

#include <string>

#include "benchmarks/scenarios/run_judge.h"
#include "benchmarks/scenarios/run_log.h"

namespace keydrome::scenarios {

// Its exit status: 1 when every call answered as in the failed run, so the fault is there, 0 when
// it did not show in a hundred attempts. Empty where a program would say nothing: for a session
// with two handles of one index (the recorded calls do not tell which), and for hundreds of
// records or calls.
std::string c_program(const Scenario& scenario, const Variant& variant,
                      const Vocabulary& vocabulary, const RunLog& log,
                      const Accusation& accusation);

}  // namespace keydrome::scenarios
