// Computes how fast throughput returns to normal after the workload has changed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace keydrome::skew {

// The recovery from one change of the workload, counted in time windows of the throughput curve.
struct Recovery {
  uint64_t windows = 0;  // windows of the part before the first with at least 95 % of the plateau
  double drop = 0;       // largest drop in these windows, as a fraction of the plateau
};

// Returns one Recovery for each change. `committed` contains the number of commits in each window.
// `changes` contains the windows in which the workload changed, in ascending order.
//
// The time from one change to the next is a part. The window of a change also covers time before
// the change, so the part begins with the following window. The part ends before the window of the
// next change. The plateau of a part is the median of its second half.
//
// Returns nothing if a part has fewer than kWindowsMin windows, because so few windows prove
// nothing. Also returns nothing if the changes contradict the windows: both arguments come from the
// jail and are not trusted.
inline constexpr std::size_t kWindowsMin = 8;
std::optional<std::vector<Recovery>> recoveries(std::span<const uint64_t> committed,
                                                std::span<const std::size_t> changes);

// Returns the window that contains commit number `transactions` of a thread, or the last window if
// the thread committed fewer transactions. `committed` contains the number of the thread's commits
// in each window.
std::size_t window_of(std::span<const uint64_t> committed, uint64_t transactions);

}  // namespace keydrome::skew
