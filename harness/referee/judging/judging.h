// Judges a session (one repetition of a benchmark with one library) that the referee, the program
// with this code, has played. The functions judge what the player, the untrusted process in the
// jail (sandbox), has left: its logs, its outcome (the results of the operations) and its recorded
// histories of calls. Then they decide the verdict.
#pragma once

#include "benchmarks/kit/judge/finding.h"
#include "harness/referee/judging/verdict.h"
#include "harness/referee/session/prepare.h"
#include "harness/referee/session/session_result.h"

namespace keydrome {

struct Judgement {
  judge::Findings findings;
  RunVerdict verdict;
  // True if the recorded histories can be judged. Their logs must match the programs. And the
  // session must be complete, unless the benchmark's instance (its named set of parameter values)
  // is advisory, i.e. its failed checks are only warnings. If the session of an advisory instance
  // ended early, the calls up to the end are judged.
  bool histories_judged = false;
};

// Judges a session. The script is the list of all operations of the session. The function may play
// parts of it again, each in a fresh jail. A workload (the code of a benchmark) does so to find the
// smallest part that still fails (benchmarks/kit/judge/replay.h).
Judgement judge_session(const PreparedSession& session, const SessionResult& result);

// Returns the verdict for a plan (the JSON file that describes a session) whose benchmark version
// differs from the referee's. The library is not the cause, so nothing is played. The verdict is
// `infrastructure`, and its reason says what to do.
RunVerdict stale_verdict(const std::string& benchmark, uint32_t plan_version,
                         uint32_t referee_version);

// Returns the verdict for a session that ended because the referee's own memory reached its bound
// (machine/memory_bound.h). The library is not the cause.
RunVerdict memory_verdict(uint64_t estimate_bytes, uint64_t bound_bytes);

}  // namespace keydrome
