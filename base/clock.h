// Reads two clocks: now_ns() reads the monotonic clock, for the times that decide a result.
// TickClock reads the processor's time-stamp counter, which is cheaper, for frequent samples.
#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace keydrome {

inline constexpr uint64_t kNsPerMs = 1'000'000;

// Returns CLOCK_MONOTONIC in nanoseconds. Takes about 20 ns. Thread-safe.
inline uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

// A cheap clock for latencies of single transactions. It uses the time-stamp counter if the counter
// runs at a constant rate, and otherwise the monotonic clock. Latencies decide no ranking: the
// referee, the process that judges a run, measures the ranked times with now_ns(). Thread safety:
// immutable after construction, so threads may share an object.
class TickClock {
 public:
  // Calibrates the counter: waits in a loop for `calibration_ns`, and compares the counter with the
  // monotonic clock.
  explicit TickClock(uint64_t calibration_ns = 2'000'000) {
    if (!counter_is_constant()) return;
    const uint64_t start_ns = now_ns();
    const uint64_t start = read_counter();
    uint64_t elapsed_ns = 0;
    while (elapsed_ns < calibration_ns) elapsed_ns = now_ns() - start_ns;
    const uint64_t elapsed = read_counter() - start;
    if (elapsed == 0) return;
    factor_ = (static_cast<Wide>(elapsed_ns) << kShift) / elapsed;
    use_counter_ = factor_ != 0;
  }

  // Returns the current time in ticks. Takes 5 to 10 ns if it uses the counter.
  uint64_t ticks() const { return use_counter_ ? read_counter() : now_ns(); }

  // Converts a difference of ticks to nanoseconds.
  uint64_t to_ns(uint64_t ticks) const {
    if (!use_counter_) return ticks;
    return static_cast<uint64_t>((ticks * factor_) >> kShift);
  }

  // Converts nanoseconds to ticks, rounded down. The conversion needs a slow division. So call this
  // function once to compute a limit, and not for every sample.
  uint64_t to_ticks(uint64_t ns) const {
    if (!use_counter_) return ns;
    return static_cast<uint64_t>((static_cast<Wide>(ns) << kShift) / factor_);
  }

  bool uses_counter() const { return use_counter_; }

  // Returns true if the CPU has an invariant time-stamp counter, which runs at a constant rate and
  // never stops.
  static bool counter_is_constant() {
#if defined(__x86_64__)
    constexpr unsigned kPowerManagementLeaf = 0x80000007u;
    constexpr unsigned kInvariantCounterBit = 1u << 8;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(kPowerManagementLeaf, &a, &b, &c, &d) != 0 &&
           (d & kInvariantCounterBit) != 0;
#else
    return false;
#endif
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr int kShift = 32;

  static uint64_t read_counter() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return now_ns();
#endif
  }

  Wide factor_ = 0;
  bool use_counter_ = false;
};

}  // namespace keydrome
