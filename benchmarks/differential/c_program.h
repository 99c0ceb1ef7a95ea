// Writes a C99 program that makes the calls of a session. A session is the calls of the one client
// thread of the benchmark "differential". The program needs only the library, so the author of the
// library can run the program in a debugger.
#pragma once

#include <string>

#include "benchmarks/differential/calls.h"
#include "checker/history/history.h"

namespace keydrome::differential {

// Returns the text of the program. `history` contains the results of the failed run, where event i
// is call i. If a call did not return, `history` is unanswered(session), which has no results.
// `fault` describes the error in one sentence without a full stop. The program exits with 1 if it
// reproduces the error, which means that every call returns the same as in the failed run.
// Otherwise it exits with 0.
std::string c_program(const Case& session, const history::History& history,
                      const std::string& fault);

}  // namespace keydrome::differential
