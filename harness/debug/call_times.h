// Measures how much time the calls of each function of a library take. The program debug_session
// prints these times, so that the author of a slow library knows which call to look at.
#pragma once

#include <string>

#include "benchmarks/kit/player/index_api.h"

namespace keydrome {

// Returns an API with the same functions, whose calls are timed. Each thread keeps the times of its
// own calls, so that the measurement makes no thread wait. REQUIRES: it is called only once.
player::IndexApi timed_calls(const player::IndexApi& api);

// Adds the times of the calling thread to those of the process. Each thread must call it when it
// has made its last call. Thread-safe.
void keep_call_times();

// Returns a table of the times that were kept, largest first: the share of each function, the
// number of its calls, and the mean time of a call. Empty if no call was made.
std::string call_times_text();

}  // namespace keydrome
