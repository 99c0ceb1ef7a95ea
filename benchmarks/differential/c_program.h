// A C99 program that makes a session's calls against contract A and nothing else, for the
// contestant's own debugger.
#pragma once

#include <string>

#include "benchmarks/differential/calls.h"
#include "checker/history.h"

namespace keydrome::differential {

// `history` is what the failed run answered, or unanswered() where it did not come back; its event
// i is call i. `fault` is one sentence without full stop. Exit status: 1 when every call answered
// as in the failed run, so the fault is there; 0 otherwise.
std::string c_program(const Case& session, const History& history, const std::string& fault);

}  // namespace keydrome::differential
