// How fast throughput comes back after the workload has changed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace keydrome::skew {

// What came after one change of the workload, in windows of the throughput curve.
struct Recovery {
  uint64_t windows = 0;  // that came before the first one at 95 % of the plateau
  double drop = 0;       // share of the plateau that the slowest of them lost
};

// `committed` holds transactions by window, `changes` the window of each change, in ascending
// order. That window is partly of the time before, so a part begins behind it and ends before the
// next change. The plateau of a part is the median of its second half. Nothing when a part has
// fewer than kWindowsMin windows, because then nothing can be said, and when the changes do not fit
// the windows: both come from the jail.
inline constexpr std::size_t kWindowsMin = 8;
std::optional<std::vector<Recovery>> recoveries(std::span<const uint64_t> committed,
                                                std::span<const std::size_t> changes);

// The window in which a thread's `transactions`-th commit fell; the last one when it never did.
std::size_t window_of(std::span<const uint64_t> committed, uint64_t transactions);

}  // namespace keydrome::skew
