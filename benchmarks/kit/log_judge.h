// Is a recorded log what the player notes when it plays the program that was handed out?
//
// A history is judged by itself (recorded_judge.h), and the log comes from the library's process:
// an empty or an invented one could be certified. So each thread's calls are held against its
// program: the same calls with the same keys and payloads, in order, tried again where the answers
// say so, up to the ends of the transactions that the player reports. What a call answered, and
// when, is still the log's word alone.
//
// Mirrors Session (session.h); where that changes what it calls, so must this. Cost: one pass over
// the events, a hash for each payload passed.
#pragma once

#include <string>

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// Adds the finding `forged_log` for each thread whose log does not fit. False if there is one: what
// the logs say then means nothing.
bool judge_logs(const Script& script, const Outcome& outcome, Findings& findings);

}  // namespace keydrome
