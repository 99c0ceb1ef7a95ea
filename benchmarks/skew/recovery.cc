// Implements the recovery of throughput: compares the windows after each change with the median of
// the part's second half.
#include "benchmarks/skew/recovery.h"

#include <algorithm>

namespace keydrome::skew {
namespace {

constexpr double kRecovered = 0.95;

double median(std::span<const uint64_t> counts) {
  std::vector<uint64_t> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return static_cast<double>(sorted[middle]);
  return static_cast<double>(sorted[middle - 1] + sorted[middle]) / 2;
}

Recovery recovery_of(std::span<const uint64_t> part) {
  const double plateau = median(part.subspan(part.size() / 2));
  Recovery result;
  for (const uint64_t count : part) {
    const auto rate = static_cast<double>(count);
    if (rate >= kRecovered * plateau) break;
    ++result.windows;
    result.drop = std::max(result.drop, 1 - rate / plateau);
  }
  return result;
}

}  // namespace

std::optional<std::vector<Recovery>> recoveries(std::span<const uint64_t> committed,
                                                std::span<const std::size_t> changes) {
  std::vector<Recovery> result;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    // Ignores the last window of the phase, because the phase usually ends within it.
    const std::size_t end = i + 1 < changes.size() ? changes[i + 1] : committed.size() - 1;
    const std::size_t begin = changes[i] + 1;
    if (end > committed.size() || begin + kWindowsMin > end) return std::nullopt;
    result.push_back(recovery_of(committed.subspan(begin, end - begin)));
  }
  return result;
}

std::size_t window_of(std::span<const uint64_t> committed, uint64_t transactions) {
  uint64_t sum = 0;
  for (std::size_t window = 0; window < committed.size(); ++window) {
    sum += committed[window];
    if (sum >= transactions) return window;
  }
  return committed.empty() ? 0 : committed.size() - 1;
}

}  // namespace keydrome::skew
