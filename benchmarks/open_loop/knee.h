// Which rate of arrivals an index sustains, from a sweep of rates.
#pragma once

#include <cstdint>
#include <span>

namespace keydrome::open_loop {

// One step of the sweep.
struct Step {
  uint64_t rate_per_s = 0;  // that was asked for
  uint64_t p99_ns = 0;      // latency from the moment of asking
};

// The rate per second at which the 99th percentile reaches the bound, all steps below it being
// within: between the last step within and the first one beyond it, on logarithmic scales. When
// even the first step is beyond the bound, its rate times bound / p99; when none is, the last rate,
// which then is a lower limit. `steps` are not empty, in ascending order of their rates.
double sustained_per_s(std::span<const Step> steps, uint64_t bound_ns);

}  // namespace keydrome::open_loop
