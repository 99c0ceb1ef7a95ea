// Generates the key sets of the benchmark "keysets". All sets are synthetic; README.md describes
// each of them.
//
// Not thread-safe. The functions may be slow, because only the referee, the process that generates
// the operations, uses them, and never in a timed phase.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script/strings.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::keysets {

// Returns true if the set with this name has string keys.
bool is_string_set(std::string_view name);

// Return `count` different keys of the set with this name. Integers are in ascending order, strings
// in random order. An unknown name ends the program.
std::vector<int64_t> integer_keys(std::string_view name, uint32_t count, workload::Rng& rng);
script::Strings string_keys(std::string_view name, uint32_t count, workload::Rng& rng);

// Returns a random key that is not in the ascending `keys`. The key is in the gap after one of
// `keys`, or after the last of them if there are no gaps.
int64_t absent_key(const std::vector<int64_t>& keys, workload::Rng& rng);

// The numbers of line segments (segments.h) that a set is generated to match.
struct Hardness {
  uint64_t local, global;
};
// Returns the target for `count` keys: the numbers published for 200 million keys, scaled to
// `count`. Returns nothing for a set without a target.
std::optional<Hardness> target_hardness(std::string_view name, uint32_t count);

}  // namespace keydrome::keysets
