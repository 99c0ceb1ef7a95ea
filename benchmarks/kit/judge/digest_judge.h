// Judges the digests of stripes and canaries. Stripes are extra transactions on keys that only one
// thread uses. Canaries are extra transactions on keys of the workload. A digest is a hash of
// everything that a thread's checks read (format/digest.h).
//
// The judge executes the same operations on a model of the data and computes the digest that a
// correct library gives.
//
// Thread safety: pure function.
#pragma once

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/judge/key_ranks.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::judge {

// Adds the finding `wrong_digest` for each thread and phase whose digest differs from the model's
// digest. If a stripe or canary of a thread failed, the state of the thread's keys is unknown. Then
// the later digests of that thread are not judged, because the failure is already a finding.
void judge_digests(const script::Script& script, const KeyRanks& ranks,
                   const script::Outcome& outcome, Findings& findings);

}  // namespace keydrome::judge
