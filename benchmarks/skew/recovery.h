// Computes how long throughput drops after each change of the workload, and which of these drops
// are more than noise.
//
// A run consists of parts, and the workload changes between them. The throughput of a part is given
// as the number of commits in windows of equal width. The plateau of a part is the median of the
// windows in its second half. A window is low if it has less than 95 % of the plateau.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace keydrome::skew {

// A series of low windows.
struct Dip {
  uint64_t windows = 0;
  double drop = 0;  // largest drop in these windows, as a fraction of the plateau
  // Sum of the drops: the missing commits, in units of the commits of one window at the plateau.
  double lost = 0;
};

// Returns the low windows with which a part begins. This is the recovery from the change before the
// part.
Dip recovery(std::span<const uint64_t> part);

// Returns the longest series of low windows in the parts, the largest drop and the most commits
// that one series lost. The three may come from different series. For a run without changes of the
// workload, the result is the noise.
Dip noise(std::span<const std::vector<uint64_t>> parts);

// A recovery is reported only if it loses more than kAboveNoise times as many commits as the worst
// dip of the noise. The factor is 2, because the largest of five recoveries often exceeds the
// largest dip a little by chance.
inline constexpr double kAboveNoise = 2;

// The recoveries that lose so many commits that they cannot be noise.
struct Recoveries {
  uint64_t count = 0;
  Dip worst;  // for each member of Dip: the largest value in any of the recoveries
};

// Returns the recoveries from the changes before each of the parts except the first.
Recoveries recoveries(std::span<const std::vector<uint64_t>> parts, const Dip& noise);

}  // namespace keydrome::skew
