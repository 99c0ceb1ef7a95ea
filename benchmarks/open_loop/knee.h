// Finds the knee of a latency curve: the highest arrival rate that an index sustains.
//
// The rates are found by bisection. Each step plays one rate, and the result of the step decides in
// which half of the remaining range the next rate lies.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace keydrome::open_loop {

// A percentile is used only if at least this many latencies are longer. With fewer, it depends on a
// few pauses of the machine.
inline constexpr uint64_t kSamplesBeyondMin = 1'000;
// A rate counts only if at least this share of the arrivals has committed when the schedule ends.
inline constexpr double kInTimeMin = 0.995;

// The highest percentiles of latency at which a rate counts as sustained.
struct Bounds {
  uint64_t p99_ns = 0, p999_ns = 0;
};

// The measurements of one try of a rate. Latencies count from the scheduled arrivals.
struct Try {
  uint64_t arrivals = 0;           // scheduled
  uint64_t committed_in_time = 0;  // arrivals that committed before the end of the schedule
  // The percentiles. Nothing if too few latencies are longer (kSamplesBeyondMin).
  std::optional<uint64_t> p99_ns, p999_ns;
};

// Returns the margin of a try: the smallest of the ratios bound / percentile (at most 1 each) and
// of (share of the arrivals committed in time) / kInTimeMin. The rate counts if the margin is at
// least 1.
double margin(const Try& measured, const Bounds& bounds);

// The result of one rate: the better of its tries, because a pause of the machine can spoil one.
struct Step {
  uint64_t rate_per_s = 0;  // of the scheduled arrivals
  double margin = 0;        // the largest margin of its tries
  Try best;                 // the try with this margin

  bool counts() const { return margin >= 1; }
};

// The range that the bisection searches.
struct Range {
  uint64_t lowest_per_s = 0, highest_per_s = 0;
};

// Returns the next rate of the bisection after `steps`: the middle, on a logarithmic scale, between
// the highest rate that counts and the lowest one above it that does not.
uint64_t next_rate_per_s(Range range, std::span<const Step> steps);

// Returns the step with the highest rate that counts, or null if no rate counts.
const Step* knee(std::span<const Step> steps);

// Returns the highest rate that counts. If none does, returns an estimate: the lowest rate of
// `steps` times its margin, which is below 1. `steps` must contain at least one step.
double knee_per_s(std::span<const Step> steps);

}  // namespace keydrome::open_loop
