// add_judge_cost(): measures what it costs the referee to judge the words of a run, and to certify the
// run from them.
//
// Not thread-safe.
#pragma once

#include "base/json.h"
#include "benchmarks/kit/player/index_api.h"

namespace keydrome {

// Plays a session of one thread on a right library: it inserts a million records and reads them in
// random order, in transactions of 16 gets. Prints and adds two rows, with medians of the CPU time of
// one thread: of following and judging ten million words, and of making events of the words of a
// million transactions and certifying them. Stops the program if the library is wrong.
void add_judge_cost(const player::IndexApi& library, Json& rows);

}  // namespace keydrome
