// Plays a script against an index in the test's own process, over the same images and sessions as
// the harness does.
#pragma once

#include <cstdint>

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/index_api.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"

namespace keydrome::testing {

// One thread of the process for each thread of the script; rounds of about `ops_per_round` ops.
Outcome play(const Script& script, const IndexApi& api, uint64_t ops_per_round = 1000);

// Findings as one text, for messages of failing tests.
std::string text_of(const Findings& findings);

}  // namespace keydrome::testing
