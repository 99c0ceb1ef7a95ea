// Maps latencies to the buckets of a histogram and computes quantiles from the counts.
//
// The range from each power of two to the next is divided into 32 buckets of equal width, so the
// error of a latency is at most 3.1 %. A histogram has kHistogramBuckets buckets. The last one also
// counts all latencies above 2^40 ns, which is 18 minutes.
//
// Thread safety: pure functions.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace keydrome::script {

inline constexpr uint32_t kHistogramStepBits = 5;
inline constexpr uint32_t kHistogramBuckets = 36 << kHistogramStepBits;

// Returns the number of the bucket that counts a latency of `ns`. The last bucket also counts all
// latencies above 2^40 ns (18 minutes).
inline uint32_t histogram_bucket(uint64_t ns) {
  constexpr uint64_t kSteps = 1u << kHistogramStepBits;
  if (ns < kSteps) return static_cast<uint32_t>(ns);
  const uint32_t octave = static_cast<uint32_t>(std::bit_width(ns)) - kHistogramStepBits - 1;
  const uint64_t step = (ns >> octave) - kSteps;
  const uint64_t bucket = (static_cast<uint64_t>(octave) + 1) * kSteps + step;
  return bucket < kHistogramBuckets ? static_cast<uint32_t>(bucket) : kHistogramBuckets - 1;
}

// Returns the largest latency in ns that falls into the bucket.
inline uint64_t histogram_upper_bound_ns(uint32_t bucket) {
  constexpr uint64_t kSteps = 1u << kHistogramStepBits;
  if (bucket < kSteps) return bucket;
  const uint32_t octave = bucket / static_cast<uint32_t>(kSteps) - 1;
  const uint64_t step = bucket % kSteps;
  return ((kSteps + step + 1) << octave) - 1;
}

// Returns the quantile `q` of the counted latencies in ns, where 0 < q <= 1. The result is the
// upper bound of the quantile's bucket, which is at most 3.1 % too high. Returns 0 for an empty
// histogram.
uint64_t histogram_quantile_ns(std::span<const uint64_t> counts, double q);

}  // namespace keydrome::script
