// Implements the measures of slow times in a run: how long and how far throughput drops after the
// workload has changed (recovery), and how much it drops without a change (noise).
#include "benchmarks/skew/recovery.h"

#include <algorithm>

namespace keydrome::skew {
namespace {

constexpr double kRecovered = 0.95;

double median(std::span<const uint64_t> counts) {
  if (counts.empty()) return 0;
  std::vector<uint64_t> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return static_cast<double>(sorted[middle]);
  return static_cast<double>(sorted[middle - 1] + sorted[middle]) / 2;
}

double plateau(std::span<const uint64_t> part) { return median(part.subspan(part.size() / 2)); }

// Returns the low windows with which `windows` begin.
Dip dip_at(std::span<const uint64_t> windows, double plateau) {
  Dip dip;
  for (const uint64_t count : windows) {
    const auto commits = static_cast<double>(count);
    if (commits >= kRecovered * plateau) break;
    const double drop = 1 - commits / plateau;
    ++dip.windows;
    dip.drop = std::max(dip.drop, drop);
    dip.lost += drop;
  }
  return dip;
}

void add(const Dip& dip, Dip& worst) {
  worst.windows = std::max(worst.windows, dip.windows);
  worst.drop = std::max(worst.drop, dip.drop);
  worst.lost = std::max(worst.lost, dip.lost);
}

}  // namespace

Dip recovery(std::span<const uint64_t> part) { return dip_at(part, plateau(part)); }

Dip noise(std::span<const std::vector<uint64_t>> parts) {
  Dip worst;
  for (const std::span<const uint64_t> part : parts) {
    const double usual = plateau(part);
    for (std::size_t at = 0; at < part.size();) {
      const Dip dip = dip_at(part.subspan(at), usual);
      add(dip, worst);
      at += dip.windows + 1;  // the window after the dip is not low
    }
  }
  return worst;
}

Recoveries recoveries(std::span<const std::vector<uint64_t>> parts, const Dip& noise) {
  Recoveries result;
  for (std::size_t part = 1; part < parts.size(); ++part) {
    const Dip found = recovery(parts[part]);
    if (found.lost <= kAboveNoise * noise.lost) continue;
    ++result.count;
    add(found, result.worst);
  }
  return result;
}

}  // namespace keydrome::skew
