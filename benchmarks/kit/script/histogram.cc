// Implements histogram.h: finds a quantile by adding up the counts from the lowest bucket on.
#include "benchmarks/kit/script/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace keydrome::script {

uint64_t histogram_quantile_ns(std::span<const uint64_t> counts, double q) {
  const uint64_t total = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  if (total == 0) return 0;
  const double exact = std::ceil(q * static_cast<double>(total));
  const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(exact), 1, total);
  uint64_t seen = 0;
  uint32_t bucket = 0;
  for (; bucket < counts.size(); ++bucket) {
    seen += counts[bucket];
    if (seen >= rank) break;
  }
  return histogram_upper_bound_ns(bucket);
}

}  // namespace keydrome::script
