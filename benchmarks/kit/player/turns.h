// Turns: makes the threads of a scenario execute their steps in a given order. A scenario is a
// short script for several threads, made to provoke one fault.
//
// The steps of a phase are numbered from 0. A thread waits for the turn of its step, makes its
// calls and ends the turn.
//
// A call may block inside the library until another thread makes a call. To avoid a deadlock, a
// waiting thread skips the current step when the turn of this step lasts too long. The thread of
// the skipped step continues when its call returns. So the steps run in the given order whenever
// the library permits it. Time influences only the order of the calls, never a verdict.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/thread_annotations.h"

namespace keydrome::player {

// Thread-safe. Everything that a thread did before done(n) is visible to a thread after the await()
// that this done(n) ended.
class Turns {
 public:
  // Blocks until the turn of `step`, or of a later step, has come. Skips each earlier step whose
  // turn this thread has watched for `timeout_us`. This time counts from the moment at which this
  // thread first saw the turn. It does not count from the beginning of the turn, because the
  // turn may have begun long before, in a pause between scenarios.
  void await(uint32_t step, uint64_t timeout_us) KEYDROME_EXCLUDES(mutex_) {
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
      if (waited_us >= timeout_us) {
        move_on();
      } else {
        moved_.wait_for_us(mutex_, timeout_us - waited_us);
      }
    }
  }

  // Ends the turn of `step`. Has no effect if the step has been skipped.
  void done(uint32_t step) KEYDROME_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (at_ == step) move_on();
  }

 private:
  // Begins the turn of the next step.
  void move_on() KEYDROME_REQUIRES(mutex_) {
    ++at_;
    moved_.notify_all();
  }

  Mutex mutex_;
  Condition moved_;
  uint32_t at_ KEYDROME_GUARDED_BY(mutex_) = 0;  // the step that has the turn
};

}  // namespace keydrome::player
