// EventClock: gives timestamps to logged calls, from which the checker later judges the library.
// The timestamps of all threads of a process are comparable.
//
// Timestamps prove the real-time order of calls. Suppose that the after() timestamp of call A is
// less than the before() timestamp of call B. Then A returned before B was made, and B can see all
// writes of A. This guarantee needs fences. The instruction rdtsc reads the time-stamp counter.
// Without fences, the processor may execute rdtsc before earlier loads, and before earlier stores
// are visible (Intel SDM volume 2, RDTSC).
//
// If the time-stamp counter has no constant rate, or if the counters of the processors disagree,
// the clock uses one shared atomic counter instead. The shared counter is correct but slower,
// because every call then writes to the same cache line.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.h"
#include "base/clock.h"

namespace keydrome::player {

class EventClock {
 public:
  enum class Source : uint8_t { kTimeStampCounter, kSharedCounter };

  // Chooses the source by checking whether the processors' counters agree. Takes about 2 ms and
  // starts one thread per processor.
  EventClock() : EventClock(trustworthy_source()) {}
  explicit EventClock(Source source) : source_(source) {}

  Source source() const { return source_; }

  // Returns the largest number of ticks by which a timestamp of inside() may be too early. For the
  // time-stamp counter, this is more than a load that misses all caches takes. For the shared
  // counter it is 0.
  uint32_t slack() const {
    constexpr uint32_t kLoadTicksMax = 2'048;
    return source_ == Source::kTimeStampCounter ? kLoadTicksMax : 0;
  }

  // Returns the timestamp to take before beginTransaction or before an auto-commit call. The
  // processor executes the loads of the call after it has read the clock.
  uint64_t before() {
#if defined(__x86_64__)
    if (source_ == Source::kTimeStampCounter) {
      const uint64_t ticks = __rdtsc();
      _mm_lfence();
      return ticks;
    }
#endif
    return next();
  }

  // Returns the timestamp to take after a call that may have made changes visible. All stores of
  // the call are visible before the clock is read.
  uint64_t after() {
#if defined(__x86_64__)
    if (source_ == Source::kTimeStampCounter) {
      _mm_mfence();
      unsigned processor = 0;
      return __rdtscp(&processor);
    }
#endif
    return next();
  }

  // Returns the timestamp to take before and after a call inside a transaction, before a commit,
  // and after a beginTransaction. inside() uses no fence, because a fence would double the cost of
  // recording. So the processor may read the clock while earlier loads still run. The timestamp may
  // therefore be up to slack() ticks too early.
  uint64_t inside() {
#if defined(__x86_64__)
    if (source_ == Source::kTimeStampCounter) return __rdtsc();
#endif
    return next();
  }

 private:
  static Source trustworthy_source();

  // The addition is sequentially consistent, because the checker treats the order of these numbers
  // as the order of real time.
  uint64_t next() { return shared_.fetch_add(1) + 1; }

  Source source_;
  alignas(kCacheLine) std::atomic<uint64_t> shared_{0};
};

}  // namespace keydrome::player
