// Key universes: the few keys that a round draws from, boundary values first.
#pragma once

#include <cstddef>
#include <vector>

#include "benchmarks/differential/calls.h"
#include "benchmarks/kit/rng.h"

namespace keydrome::differential {

// `count` different keys of the type, in no order. Small universes are mostly boundary values and
// keys that differ in one byte or bit.
std::vector<KeyValue> draw_keys(KeyType type, std::size_t count, Rng& rng);

}  // namespace keydrome::differential
