// Checks that the log of a recorded phase is one that the player, which calls the library, can have
// written while it executed the given program. The log has an event for every call of a thread.
//
// The check is needed because the log comes from the library's process. A faulty library could
// replace the log with an empty or invented one that looks correct. Therefore each thread's log is
// compared with the thread's program. The log must contain the same calls with the same keys and
// payloads in the same order. Retries must follow from the logged results, and the ends of
// transactions must agree with those that the player reported. The results and the timestamps of
// the calls cannot be verified here.
//
// The class Follower in log_judge.cc mirrors player::Interpreter (player/interpreter.h). If you
// change which calls the interpreter makes, change Follower in the same way.
//
// The cost is one pass over the events and one hash per payload. Thread safety: pure function.
#pragma once

#include <string>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::judge {

// Adds the finding `forged_log` for each thread whose log does not fit its program. Returns false
// if there is such a thread. The logs then prove nothing.
bool judge_logs(const script::Script& script, const script::Outcome& outcome, Findings& findings);

}  // namespace keydrome::judge
