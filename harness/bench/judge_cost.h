// add_judge_cost(): measures what it costs the referee, the trusted process, to judge the results
// of a run. The results are words: 8 bytes for each call. To judge them, the referee compares them
// with the expected results. To certify the run, it finds an order of the transactions that
// explains all results.
//
// Not thread-safe.
#pragma once

#include "base/json.h"
#include "benchmarks/kit/player/index_api.h"

namespace keydrome {

// Plays a session of one thread on `library`, which must give correct results. The thread inserts a
// million records and then reads them in scattered order, in transactions of 16 gets. Prints two
// rows and adds them to `rows`. Each is a median of the CPU time of one thread:
// - to judge ten million words
// - to turn the words of a million transactions into a history of calls, and to certify it
//
// Aborts the program if the judge finds a wrong result.
void add_judge_cost(const player::IndexApi& library, Json& rows);

}  // namespace keydrome
