// Implements the distributions of the benchmark "mixgraph" (keys, payload lengths, scan lengths)
// by inverting their distribution functions.
#include "benchmarks/mixgraph/distributions.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "benchmarks/kit/workload/clients.h"
#include "benchmarks/kit/workload/distributions.h"

namespace keydrome::mixgraph {
namespace {

constexpr double kRangeA = 14.18, kRangeB = -2.917, kRangeC = 0.0164, kRangeD = -0.08082;
constexpr double kKeyA = 0.002312, kKeyB = 0.3467;
constexpr double kValueShape = 0.2615, kValueScale = 25.45;
constexpr double kScanShape = 2.517, kScanScale = 14.236;
constexpr double kValueMin = 10, kValueMax = 100;
constexpr double kScanMax = 10'000;

// Returns a uniform number in (0, 1].
double positive_unit(workload::Rng& rng) { return 1 - workload::unit_interval(rng); }

double pareto(double u, double shape, double scale) {
  return std::ceil(scale * (std::pow(u, -shape) - 1) / shape);
}

}  // namespace

HotKeys::HotKeys(uint64_t keys, workload::Rng& rng)
    : keys_(keys), positions_(workload::shuffled(kRanges, rng)) {
  KEYDROME_CHECK(keys >= kRanges);
  double sum = 0;
  for (uint32_t i = 1; i <= kRanges; ++i) {
    shares_.push_back(kRangeA * std::exp(kRangeB * i) + kRangeC * std::exp(kRangeD * i));
    sum += shares_.back();
  }
  for (double& share : shares_) share /= sum;
}

uint64_t HotKeys::next(workload::Rng& rng) const {
  double u = workload::unit_interval(rng);
  uint32_t range = 0;
  while (range + 1 < kRanges && u >= shares_[range]) u -= shares_[range++];
  const double rank = std::ceil(std::pow(positive_unit(rng) / kKeyA, 1 / kKeyB));
  return first_key(range) + workload::fnv_63(static_cast<uint64_t>(rank)) % size();
}

uint32_t random_value_bytes(workload::Rng& rng) {
  const double bytes = pareto(positive_unit(rng), kValueShape, kValueScale);
  return static_cast<uint32_t>(std::clamp(bytes, kValueMin, kValueMax));
}

uint32_t random_scan_length(workload::Rng& rng) {
  double length = pareto(positive_unit(rng), kScanShape, kScanScale);
  if (length > kScanMax) length = std::fmod(length, kScanMax);
  return static_cast<uint32_t>(std::max(1.0, length));
}

}  // namespace keydrome::mixgraph
