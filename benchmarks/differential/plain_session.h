// Plain sessions: an index is filled and read through, and nothing else. Faults that show once in a
// thousand calls are in them too, and told in a few lines.
#pragma once

#include <vector>

#include "benchmarks/differential/calls.h"

namespace keydrome::differential {

// The smaller one first; each has several thousand calls at most.
std::vector<Case> plain_sessions();

}  // namespace keydrome::differential
