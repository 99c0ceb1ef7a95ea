// Implements sustained_per_s(): finds the first step above the bound and interpolates on
// logarithmic scales.
#include "benchmarks/open_loop/knee.h"

#include <algorithm>
#include <cmath>

namespace keydrome::open_loop {
namespace {

double log_of(uint64_t value) {
  return std::log(static_cast<double>(std::max<uint64_t>(value, 1)));
}

}  // namespace

double sustained_per_s(std::span<const Step> steps, uint64_t bound_ns) {
  const auto beyond = std::find_if(steps.begin(), steps.end(),
                                   [&](const Step& step) { return step.p99_ns > bound_ns; });
  if (beyond == steps.end()) return static_cast<double>(steps.back().rate_per_s);
  const auto rate = static_cast<double>(beyond->rate_per_s);
  if (beyond == steps.begin()) {
    return rate * static_cast<double>(bound_ns) / static_cast<double>(beyond->p99_ns);
  }
  const Step& within = *(beyond - 1);
  const double share =
      (log_of(bound_ns) - log_of(within.p99_ns)) / (log_of(beyond->p99_ns) - log_of(within.p99_ns));
  const auto low = static_cast<double>(within.rate_per_s);
  return low * std::pow(rate / low, share);
}

}  // namespace keydrome::open_loop
