// Implements the bisection of arrival rates, which finds the highest rate that an index sustains:
// how well a try keeps the bounds (its margin), the next rate to play, and the result.
#include "benchmarks/open_loop/knee.h"

#include <algorithm>
#include <cmath>

namespace keydrome::open_loop {
namespace {

double room(uint64_t bound_ns, const std::optional<uint64_t>& percentile_ns) {
  if (!percentile_ns || *percentile_ns <= bound_ns) return 1;
  return static_cast<double>(bound_ns) / static_cast<double>(*percentile_ns);
}

}  // namespace

double margin(const Try& measured, const Bounds& bounds) {
  const double in_time = static_cast<double>(measured.committed_in_time) /
                         static_cast<double>(std::max<uint64_t>(measured.arrivals, 1));
  return std::min({in_time / kInTimeMin, room(bounds.p99_ns, measured.p99_ns),
                   room(bounds.p999_ns, measured.p999_ns)});
}

uint64_t next_rate_per_s(Range range, std::span<const Step> steps) {
  for (const Step& step : steps) {
    (step.counts() ? range.lowest_per_s : range.highest_per_s) = step.rate_per_s;
  }
  return static_cast<uint64_t>(std::llround(std::sqrt(static_cast<double>(range.lowest_per_s) *
                                                      static_cast<double>(range.highest_per_s))));
}

const Step* knee(std::span<const Step> steps) {
  const Step* highest = nullptr;
  for (const Step& step : steps) {
    if (!step.counts()) continue;
    if (highest == nullptr || step.rate_per_s > highest->rate_per_s) highest = &step;
  }
  return highest;
}

double knee_per_s(std::span<const Step> steps) {
  if (const Step* found = knee(steps)) return static_cast<double>(found->rate_per_s);
  const auto lowest = std::ranges::min_element(steps, {}, &Step::rate_per_s);
  return static_cast<double>(lowest->rate_per_s) * lowest->margin;
}

}  // namespace keydrome::open_loop
