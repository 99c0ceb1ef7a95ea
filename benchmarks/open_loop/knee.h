// Computes the knee of a latency curve: the arrival rate that an index sustains.
#pragma once

#include <cstdint>
#include <span>

namespace keydrome::open_loop {

// The measurements at one arrival rate.
struct Step {
  uint64_t rate_per_s = 0;  // rate of the scheduled arrivals
  uint64_t p99_ns = 0;      // 99th percentile of latency, counted from the scheduled arrivals
};

// Returns the rate per second at which the 99th percentile of latency reaches the bound. `steps`
// must contain at least one step, and their rates must ascend.
//
// Usually interpolates, on logarithmic scales, between the first step whose percentile is above the
// bound and the step before it. If steps[0] is already above the bound, returns its rate times
// bound / p99. If all steps are within the bound, returns the last rate, which is a lower limit.
double sustained_per_s(std::span<const Step> steps, uint64_t bound_ns);

}  // namespace keydrome::open_loop
