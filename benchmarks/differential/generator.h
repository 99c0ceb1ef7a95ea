// Generates the random API calls of one thread (a session of the benchmark "differential"), in
// rounds.
//
// A round is a part of the session. It begins and ends with empty indexes, so that it can also be
// played alone. Most rounds use only a few keys, and some keys more often than others. Therefore
// equal records, missing records and all cursor positions are frequent. A payload is new, or was
// used before under the same key or another key. The last round of a session with 100,000 calls or
// more has transactions with up to 10,000 changes.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/differential/calls.h"

namespace keydrome::differential {

// The number of an index that no round creates. Opening this index must fail.
inline constexpr uint16_t kMissingIndex = 0;

// A round of the session: the calls [first, end).
struct Round {
  uint32_t first = 0, end = 0;
};

struct Generated {
  Case session;
  std::vector<Round> rounds;  // consecutive ranges of calls
};

// Returns at least `calls` calls. Equal arguments give equal calls.
Generated generate(uint64_t calls, uint64_t seed);

}  // namespace keydrome::differential
