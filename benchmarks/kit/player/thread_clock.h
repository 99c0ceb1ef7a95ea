// ThreadClock: the time of one thread while it executes its program. Times are ticks of the
// TickClock since GO, the start of the phase.
//
// Thread safety: one object per thread. An object writes only to the ThreadOutcome of its thread.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "benchmarks/kit/format/outcome.h"

namespace keydrome::player {

class ThreadClock {
 public:
  // `go_ticks` is the clock's time of GO. All threads of a phase get the same value.
  ThreadClock(format::ThreadOutcome& outcome, const TickClock& clock, uint64_t go_ticks)
      : outcome_(&outcome), clock_(&clock), go_ticks_(go_ticks) {
    outcome_->go_ticks = go_ticks;
  }

  // Returns the ticks since GO. Takes 5 to 10 ns.
  uint64_t since_go() const { return clock_->ticks() - go_ticks_; }

  // Convert between ticks and nanoseconds.
  uint64_t to_ticks(uint64_t ns) const { return clock_->to_ticks(ns); }
  uint64_t ns_until(uint64_t ticks) const {
    const uint64_t now = since_go();
    return ticks > now ? clock_->to_ns(ticks - now) : 0;
  }
  uint64_t ns_since(uint64_t start) const { return clock_->to_ns(since_go() - start); }

  // Notes the current time as the end of the thread's program.
  void finish() { outcome_->ended_ticks = since_go(); }

 private:
  format::ThreadOutcome* outcome_;
  const TickClock* clock_;
  uint64_t go_ticks_;
};

}  // namespace keydrome::player
