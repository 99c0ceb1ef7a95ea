// Implements sustained_per_s(): finds the last step within the bound and interpolates on logarithmic
// scales.
#include "benchmarks/open_loop/knee.h"

#include <algorithm>
#include <cmath>

namespace keydrome::open_loop {
namespace {

double log_of(uint64_t value) {
  return std::log(static_cast<double>(std::max<uint64_t>(value, 1)));
}

// Returns the rate at which the percentile reaches the bound, as if the latencies were all true.
double knee_per_s(std::span<const Step> steps, uint64_t bound_ns) {
  std::size_t within = steps.size();  // the number of steps up to the last one within the bound
  while (within > 0 && steps[within - 1].p99_ns > bound_ns) --within;
  if (within == steps.size()) return static_cast<double>(steps.back().rate_per_s);
  const Step& beyond = steps[within];
  const auto rate = static_cast<double>(beyond.rate_per_s);
  if (within == 0) {
    return rate * static_cast<double>(bound_ns) / static_cast<double>(beyond.p99_ns);
  }
  const Step& last = steps[within - 1];
  const double share =
      (log_of(bound_ns) - log_of(last.p99_ns)) / (log_of(beyond.p99_ns) - log_of(last.p99_ns));
  const auto low = static_cast<double>(last.rate_per_s);
  return low * std::pow(rate / low, share);
}

}  // namespace

double sustained_per_s(std::span<const Step> steps, uint64_t bound_ns) {
  double delivered = 0;
  for (const Step& step : steps) delivered = std::max(delivered, step.delivered_per_s);
  return std::min(knee_per_s(steps, bound_ns), delivered);
}

}  // namespace keydrome::open_loop
