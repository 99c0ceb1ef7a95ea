// EventClock: stamps for recorded calls, comparable between all threads of a process.
//
// The stamps carry real-time order: if one call's `after` stamp is below another's `before` stamp,
// the first had returned, with everything it wrote visible, before the second was made. So the
// fences matter: rdtsc alone may run ahead of loads and behind stores of its neighbours (Intel SDM
// volume 2, RDTSC).
//
// Where the time-stamp counter is not constant or the processors' counters disagree, one shared
// atomic counter takes its place: right, but every call then touches one cache line. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.h"
#include "base/clock.h"

namespace keydrome {

class EventClock {
 public:
  enum class Source : uint8_t { kTimeStampCounter, kSharedCounter };

  // Looks for counters that disagree: about 2 ms with one thread for each processor.
  EventClock() : EventClock(trustworthy_source()) {}
  explicit EventClock(Source source) : source_(source) {}

  Source source() const { return source_; }

  // How early inside() may be, in ticks: a load that misses all caches, and then some.
  uint32_t slack() const {
    constexpr uint32_t kLoadTicksMax = 2'048;
    return source_ == Source::kTimeStampCounter ? kLoadTicksMax : 0;
  }

  // Before beginTransaction or an auto-commit call: no load of the call runs before it.
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

  // After a call that may have made something visible: all its stores have been.
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

  // Around a call inside a transaction and before a commit: no fence, which would double the cost
  // of recording. The stamp may be early by as long as the loads before it take: slack().
  uint64_t inside() {
#if defined(__x86_64__)
    if (source_ == Source::kTimeStampCounter) return __rdtsc();
#endif
    return next();
  }

 private:
  static Source trustworthy_source();

  // Sequentially consistent: it is the order that everything else is judged by.
  uint64_t next() { return shared_.fetch_add(1) + 1; }

  Source source_;
  alignas(kCacheLine) std::atomic<uint64_t> shared_{0};
};

}  // namespace keydrome
