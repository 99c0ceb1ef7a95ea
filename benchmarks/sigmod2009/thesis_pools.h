// Makes the pools (lists) of keys and payloads of the SIGMOD 2009 contest. There is one pool per
// key type, shared by all threads and indices. Operations choose entries at random, with
// repetitions (section 2.3.1 of E. G. Reid's thesis on the contest, and the organisers' public
// speed test).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::sigmod2009 {

// The entries of the script's pools that the benchmark may choose.
struct ThesisPools {
  std::array<uint32_t, 3> keys{};  // by KeyType: number of keys, which are entries 0 .. number - 1
  std::vector<uint32_t> texts;     // the payload texts, by their numbers in the script's pool
};

// The rule by which an instance chooses its keys (section 2.3.3 of the thesis).
enum class KeyRule : uint8_t {
  kRandom,    // all three types, see random_thesis_pools()
  kVaryHigh,  // int64: b << 56, b = 0 .. 255: only the highest byte varies; half are negative
  kVaryHighPositive,  // int64: b << 55
  kVaryLow,           // int64: b: only the lowest byte varies
  kDoubleLookup,      // strings; payloads are keys as well
};

// Returns the rule after which the instance is named, and kRandom for all other instances.
KeyRule key_rule(std::string_view instance);

// Adds `entries` random keys of each type and as many payload texts:
//   int32    1 .. 2^31 - 2
//   int64    two consecutive 31-bit random numbers, concatenated, modulo 2^63 - 2, plus 1
//   varchar  0 to 126 letters, upper and lower case
//   payload  0 to 97 letters; then a tag, which makes each payload unique, replaces the first 8
//            letters; a payload of fewer than 8 letters becomes 8 letters long
//
// With kDoubleLookup there is one pool of strings of 0 to 89 letters, used as keys and as texts.
// With the kVary rules there are only the 256 int64 keys of the rule, and the payload texts. The
// script's key pools must be empty.
ThesisPools random_thesis_pools(script::ScriptBuilder& script, uint64_t seed, uint64_t entries,
                                KeyRule rule);

}  // namespace keydrome::sigmod2009
