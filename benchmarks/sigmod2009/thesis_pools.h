// The key and payload pools of the 2009 contest: one pool for each key type, shared by all threads
// and indices, from which operations draw with replacement (thesis 2.3.1 and the organisers' public
// speed test).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script_builder.h"

namespace keydrome::sigmod2009 {

// Which entries of the script's pools these are.
struct ThesisPools {
  std::array<uint32_t, 3> keys{};  // by KeyType: the first so many
  std::vector<uint32_t> texts;     // their numbers; the empty text is there once
  uint32_t first_string =
      0;  // the smallest varchar key that is not empty; the empty one if all are
};

// Which keys an instance uses (thesis 2.3.3).
enum class KeyRule : uint8_t {
  kRandom,    // all three types, as below
  kVaryHigh,  // int64: b << 56, b = 0 .. 255: only the highest byte varies; half are negative
  kVaryHighPositive,  // int64: b << 55
  kVaryLow,           // int64: b: only the lowest byte varies
  kDoubleLookup,      // varchar, and payloads are keys
};

// The rule of an instance; kRandom for those that are not named after one.
KeyRule key_rule(std::string_view instance);

// Draws `entries` keys of each type and as many payload texts:
//   int32    1 .. 2^31 - 2
//   int64    two neighbouring 31-bit numbers glued together, modulo 2^63 - 2, plus 1
//   varchar  0..126 letters, both cases
//   payload  0..97 letters, of which the tag takes the first 8
// With kDoubleLookup there is one pool of strings of 0..89 letters, which are keys and texts. With
// another rule there are only its 256 int64 keys.
// The script has no keys yet.
ThesisPools draw_thesis_pools(ScriptBuilder& script, uint64_t seed, uint64_t entries, KeyRule rule);

}  // namespace keydrome::sigmod2009
