// The generator: random rounds of calls. Each round creates indexes of its own, so that it is a
// session by itself; a few keys, drawn unevenly, make equal records, missing ones and all places of
// a cursor frequent. Payloads are new, or were used before under the same key or another.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/differential/calls.h"

namespace keydrome::differential {

// The index that no round creates: to open it must be refused.
inline constexpr uint16_t kMissingIndex = 0;

// A round: the calls [first, end) of the session.
struct Round {
  uint32_t first = 0, end = 0;
};

struct Generated {
  Case session;
  std::vector<Round> rounds;  // one after the other
};

// At least `calls` calls. Equal arguments give equal calls.
Generated generate(uint64_t calls, uint64_t seed);

}  // namespace keydrome::differential
