// A Zipf law with any exponent, exactly: a table of sums. (kit/ycsb_random.h has YCSB's, which ends
// below exponent 1 and is an approximation on purpose.)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/ycsb_random.h"

namespace keydrome::keysets {

class ZipfTable {
 public:
  // Ranks 0 .. items-1, the first most often; items > 0.
  ZipfTable(uint32_t items, double exponent) {
    double sum = 0;
    for (uint32_t rank = 1; rank <= items; ++rank) {
      sum += std::pow(rank, -exponent);
      sums_.push_back(sum);
    }
  }

  uint32_t next(Rng& rng) const {
    const double at = unit_interval(rng) * sums_.back();
    const auto found = std::upper_bound(sums_.begin(), sums_.end() - 1, at);
    return static_cast<uint32_t>(found - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

}  // namespace keydrome::keysets
