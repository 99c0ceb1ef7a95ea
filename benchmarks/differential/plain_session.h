// Plain sessions: sequences of calls that only fill an index and read all of it. They can be
// described in a few lines, and reveal errors that occur once in a thousand calls. If such an
// error is found in random calls, a plain session that shows it too is easier to read.
#pragma once

#include <vector>

#include "benchmarks/differential/calls.h"

namespace keydrome::differential {

// Returns the plain sessions in ascending order of size. Each has at most about 11,000 calls.
std::vector<Case> plain_sessions();

}  // namespace keydrome::differential
