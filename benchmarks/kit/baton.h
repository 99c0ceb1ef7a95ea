// Baton: who is next in a scenario whose threads take turns, step by step.
//
// Steps are numbered from 0 over the phase. A thread waits for its step, makes its calls and passes
// the baton on. A call that waits inside the library must not stop the others, for it may wait for
// one of them: a waiter that has seen the same step for longer than its patience passes that step
// over. The thread that was passed over goes on whenever its call comes back. So the order is what
// was asked for whenever the library lets it happen, and time decides nothing but the order.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/thread_annotations.h"

namespace keydrome {

// Thread-safe. What happened before done(n) is visible after the await() that it ends.
class Baton {
 public:
  // Blocks until the baton is at `step` or beyond. Ends after at most `patience_us` for each step
  // before it. The patience counts from when this thread first saw the step at its turn: a stamp of
  // when the step began would be stale after a pause between two scenarios.
  void await(uint32_t step, uint64_t patience_us) KEYDROME_EXCLUDES(mutex_) {
    constexpr uint64_t kNsPerUs = 1000;
    MutexLock lock(mutex_);
    uint32_t seen = at_;
    uint64_t seen_ns = now_ns();
    while (at_ < step) {
      const uint64_t now = now_ns();
      if (at_ != seen) {
        seen = at_;
        seen_ns = now;
      }
      const uint64_t waited_us = (now - seen_ns) / kNsPerUs;
      if (waited_us >= patience_us) {
        move_on();
      } else {
        moved_.wait_for_us(mutex_, patience_us - waited_us);
      }
    }
  }

  // The step is over; nothing happens when it was passed over before.
  void done(uint32_t step) KEYDROME_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (at_ == step) move_on();
  }

 private:
  void move_on() KEYDROME_REQUIRES(mutex_) {
    ++at_;
    moved_.notify_all();
  }

  Mutex mutex_;
  Condition moved_;
  uint32_t at_ KEYDROME_GUARDED_BY(mutex_) = 0;
};

}  // namespace keydrome
