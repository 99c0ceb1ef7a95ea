// The expected digests of stripes and canaries, from a model of the keys that one thread owns.
#pragma once

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/key_ranks.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// Adds `wrong_digest` for each thread and phase whose digest is not the model's. A thread of which
// a checked transaction failed is left out from then on, because its model is no longer known; the
// failure is a finding itself.
void judge_digests(const Script& script, const KeyRanks& ranks, const Outcome& outcome,
                   Findings& findings);

}  // namespace keydrome
