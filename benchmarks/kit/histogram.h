// Log-linear latency histogram (outcome.h has its size): 32 steps per power of two, so a value is
// known to 3.1 %.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "benchmarks/kit/outcome.h"

namespace keydrome {

// The bucket of a latency; what is longer than the last bucket (18 minutes) is counted in it.
inline uint32_t histogram_bucket(uint64_t ns) {
  constexpr uint64_t kSteps = 1u << kHistogramStepBits;
  if (ns < kSteps) return static_cast<uint32_t>(ns);
  const uint32_t octave = static_cast<uint32_t>(std::bit_width(ns)) - kHistogramStepBits - 1;
  const uint64_t step = (ns >> octave) - kSteps;
  const uint64_t bucket = (static_cast<uint64_t>(octave) + 1) * kSteps + step;
  return bucket < kHistogramBuckets ? static_cast<uint32_t>(bucket) : kHistogramBuckets - 1;
}

// The largest latency in ns that falls into the bucket.
inline uint64_t histogram_upper_bound_ns(uint32_t bucket) {
  constexpr uint64_t kSteps = 1u << kHistogramStepBits;
  if (bucket < kSteps) return bucket;
  const uint32_t octave = bucket / static_cast<uint32_t>(kSteps) - 1;
  const uint64_t step = bucket % kSteps;
  return ((kSteps + step + 1) << octave) - 1;
}

// The latency in ns below or at which a share `q` (0 < q <= 1) of the values fell: a bucket's upper
// bound, at most 3.1 % too high. 0 for an empty histogram.
uint64_t histogram_quantile_ns(std::span<const uint64_t> counts, double q);

}  // namespace keydrome
