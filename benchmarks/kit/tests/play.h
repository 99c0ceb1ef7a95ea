// Runs a script (the operations of a session) against an index library in the test's own process,
// for tests of judges and benchmarks. It uses the same interpreter as the player, which runs
// scripts in the jail (a sandbox), and gives it the operations in the same binary format.
#pragma once

#include <cstdint>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/player/index_api.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome::testing {

// Executes the whole script, even if its phases end by the clock (kUntil), with one thread for each
// thread of the script. Hands each thread its operations in small pieces, so that tests cross the
// borders of pieces. Returns the results. With `keep_calls`, these contain an event for each call.
// The events are made from the evidence words, the 8 bytes in which the interpreter reports a call.
script::Outcome play(const script::Script& script, const player::IndexApi& api,
                     bool keep_calls = false);

// Returns the findings as one text, for the messages of failing tests.
std::string text_of(const judge::Findings& findings);

}  // namespace keydrome::testing
