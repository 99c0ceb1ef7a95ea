// The keys of a round: few, so that transactions meet, and chosen to hurt -
// boundaries, neighbours, long common prefixes.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "keydrome/index.h"

namespace keydrome::isolation {

// Adds `count` (2 to 2^20) different keys of the type to the script's pool and
// returns their numbers in ascending order of the keys. Rounds that share a
// script share keys where they draw the same ones.
std::vector<uint32_t> add_keys(ScriptBuilder& script, KeyType type, std::size_t count, Rng& rng);

}  // namespace keydrome::isolation
