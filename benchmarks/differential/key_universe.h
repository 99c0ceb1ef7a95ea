// Chooses the keys of a round. A round is a part of the random calls that the benchmark
// "differential" makes. A round uses few keys, and many of these keys are boundary values.
#pragma once

#include <cstddef>
#include <vector>

#include "benchmarks/differential/calls.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::differential {

// Returns `count` different random keys of the type, in random order. If `count` is small, most
// integer keys are boundary values, are near 0, or share their upper or lower half with another
// key. Most string keys are short or share a long prefix.
std::vector<KeyValue> random_keys(KeyType type, std::size_t count, workload::Rng& rng);

}  // namespace keydrome::differential
