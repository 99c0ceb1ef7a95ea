// Computes the knee of a latency curve: the arrival rate that an index sustains.
#pragma once

#include <cstdint>
#include <span>

namespace keydrome::open_loop {

// The measurements at one arrival rate.
struct Step {
  uint64_t rate_per_s = 0;     // rate of the scheduled arrivals
  uint64_t p99_ns = 0;         // 99th percentile of latency, counted from the scheduled arrivals
  double delivered_per_s = 0;  // throughput by the referee's clock
};

// Returns the rate per second at which the 99th percentile of latency reaches the bound. `steps`
// must contain at least one step, and their rates must ascend.
//
// Usually interpolates, on logarithmic scales, between the last step whose percentile is within the
// bound and the step after it. A lower step above the bound was disturbed, because a higher rate was
// sustained. If all steps are above the bound, returns the rate of steps[0] times bound / p99. If the
// last step is within the bound, returns the last rate, which is a lower limit.
//
// The latencies come from inside the jail, where a library could make them look short. Therefore the
// result is at most the highest throughput of a step, which the referee measures outside.
double sustained_per_s(std::span<const Step> steps, uint64_t bound_ns);

}  // namespace keydrome::open_loop
