// Clocks: the monotonic clock for everything that counts, the time-stamp counter for many cheap
// samples.
#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace keydrome {

inline constexpr uint64_t kNsPerMs = 1'000'000;

// CLOCK_MONOTONIC in nanoseconds; about 20 ns per call. Thread-safe.
inline uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

// Ticks for latencies of single transactions: the time-stamp counter where it runs at a constant
// rate, else the monotonic clock. Diagnostics only: results use now_ns() of the referee. Immutable
// after construction, so any thread may use a copy.
class TickClock {
 public:
  // Measures the counter's rate against the monotonic clock for `calibration_ns`.
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

  // The current time in ticks; 5 to 10 ns with the counter.
  uint64_t ticks() const { return use_counter_ ? read_counter() : now_ns(); }

  // A difference of ticks in nanoseconds; right for differences below 18 minutes.
  uint64_t to_ns(uint64_t ticks) const {
    if (!use_counter_) return ticks;
    return static_cast<uint64_t>((ticks * factor_) >> kShift);
  }

  // The inverse, rounded down. Divides: for setting a limit, not for every call.
  uint64_t to_ticks(uint64_t ns) const {
    if (!use_counter_) return ns;
    return static_cast<uint64_t>((static_cast<Wide>(ns) << kShift) / factor_);
  }

  bool uses_counter() const { return use_counter_; }

  // Whether the processor promises a time-stamp counter of constant rate that does not stop.
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
