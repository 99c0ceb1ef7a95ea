// Chooses the keys of a round of the benchmark "isolation". A round is one phase of the run, on
// empty indexes. The keys are few, so that transactions conflict. They are also difficult: boundary
// values, adjacent integers, and strings with long common prefixes.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/rng.h"
#include "keydrome/index.h"

namespace keydrome::isolation {

// Adds `count` (2 to 2^20) different random keys of the type to the script's pool (list of keys).
// Returns their pool numbers in ascending key order. A key that two rounds choose is in the pool
// twice.
std::vector<uint32_t> add_keys(script::ScriptBuilder& script, KeyType type, std::size_t count,
                               workload::Rng& rng);

}  // namespace keydrome::isolation
