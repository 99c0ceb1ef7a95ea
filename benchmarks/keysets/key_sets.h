// The sets of keys (README.md says what each is like). All are synthetic.
//
// Not thread-safe; referee only, never inside the clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/strings.h"

namespace keydrome::keysets {

bool is_string_set(std::string_view name);

// `count` different keys of the set with that name (checked), drawn by `rng`: integers in ascending
// order, strings as they are
// drawn.
std::vector<int64_t> integer_keys(std::string_view name, uint32_t count, Rng& rng);
Strings string_keys(std::string_view name, uint32_t count, Rng& rng);

// A key that is not in the ascending `keys`: in a gap behind any of them, or, where there are no
// gaps, behind the last.
int64_t absent_key(const std::vector<int64_t>& keys, Rng& rng);

// Segments (segments.h) that a set aims at.
struct Hardness {
  uint64_t local, global;
};
// For `count` keys in proportion to what is published for 200 million; nothing for a set that aims
// at none.
std::optional<Hardness> target_hardness(std::string_view name, uint32_t count);

}  // namespace keydrome::keysets
