// Says whether a phase that reached a time limit was slow or hung. If it was slow, the library
// still completed calls when the time was over, so more time would have helped.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/kit/script/script.h"
#include "harness/referee/hang/phase_watch.h"

namespace keydrome {

// Times by now_ns() of a phase that reached a time limit.
struct PhaseTimes {
  uint64_t start_ns = 0;
  uint64_t now_ns = 0;  // of the last sample
  // A call that has not returned for this long is a hang, even if other threads advance.
  uint64_t stuck_ns = 0;
};

// Returns true if a call of some thread has not returned for `times.stuck_ns`.
bool is_stuck(const script::Script& script, const script::PhaseScript& phase,
              const PhaseWatch& watch, const PhaseTimes& times);

// Returns true if the phase has run for at most half a second, too short a time to see whether its
// threads advance. If the whole session reaches its time limit so early in a phase, the phases
// before have used up the time.
bool has_just_begun(const PhaseTimes& times);

// Returns true if some unfinished thread made progress a short time ago, and no thread is stuck. A
// short time is one second, or four times what an operation of the thread has taken on average,
// whichever is longer. If all threads have finished, the last of them must have made its progress
// within one second.
bool is_advancing(const script::Script& script, const script::PhaseScript& phase,
                  const PhaseWatch& watch, const PhaseTimes& times);

// Returns the end of a sentence about a phase for which has_just_begun() is true, such as "; this
// phase has run for only 0.2 s, so the earlier phases have used up the time".
std::string just_begun_text(const PhaseTimes& times);

// Returns the end of a sentence about a phase for which is_advancing() is true, such as "; in
// 15.0 s, thread 0 made 1,234 of 20,000 operations; it was still advancing, and at this rate the
// phase takes about 243 s". If all threads have finished, the text says so instead.
std::string pace_text(const script::PhaseScript& phase, const PhaseWatch& watch,
                      const PhaseTimes& times);

}  // namespace keydrome
