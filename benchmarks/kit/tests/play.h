// Runs a script against an index library in the test's own process, for tests of judges and
// benchmarks. It uses the same images and the same interpreter as the real player.
#pragma once

#include <cstdint>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/player/index_api.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome::testing {

// Executes the script, with one thread for each thread of the script and in small pieces. Returns
// the results. With `keep_calls`, the results contain events made from the words.
script::Outcome play(const script::Script& script, const player::IndexApi& api,
                     bool keep_calls = false);

// Returns the findings as one text, for the messages of failing tests.
std::string text_of(const judge::Findings& findings);

}  // namespace keydrome::testing
