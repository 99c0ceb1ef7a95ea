// Turns the outcome of a session, the random calls of one thread, into findings. A finding names
// the failure: a wrong result, a crash or a hang. It also shows a small part of the session that
// still fails in this way. investigate() finds this part by replaying shorter and shorter parts of
// the session.
#pragma once

#include <cstdint>
#include <span>

#include "benchmarks/differential/generator.h"
#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/judge/replay.h"

namespace keydrome::differential {

// Returns the calls of a range.
std::span<const Call> calls_of(const Case& session, const Round& range);

// A session is played in phases. Judges the phases that ended. If a phase did not end, reports the
// reason. `phases` contains the range of calls of each phase. The replays take at most about
// `shrink_ms` milliseconds. Returns true if something was wrong.
bool investigate(const Generated& generated, std::span<const Round> phases,
                 const judge::Played& played, uint64_t shrink_ms, judge::Findings& findings);

}  // namespace keydrome::differential
