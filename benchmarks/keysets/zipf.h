// A Zipf law with any exponent: a table of all ranks. (kit/ycsb_random.h has YCSB's, which ends
// below exponent 1 and is an approximation on purpose.)
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "benchmarks/kit/rng.h"

namespace keydrome::keysets {

// By aliases (A. Walker, 1977; M. Vose, 1991): as many equal parts as there are ranks, each divided
// between its own rank and one other, to 2^-32 of it. A draw looks at one part, whatever the law.
class ZipfTable {
 public:
  // Ranks 0 .. items-1, the first most often; items > 0.
  ZipfTable(uint32_t items, double exponent) {
    std::vector<double> shares(items);  // of what is left; 1 is a part
    double sum = 0;
    for (uint32_t rank = 0; rank < items; ++rank) {
      shares[rank] = std::pow(rank + 1.0, -exponent);
      sum += shares[rank];
    }
    for (double& share : shares) share *= items / sum;
    for (uint32_t rank = 0; rank < items; ++rank) parts_.push_back({UINT32_MAX, rank});
    // Shares fall from rank to rank, so those below 1 are a tail. Each of the others fills up parts
    // of the tail until it is less than a part itself, and is then filled up by the next. What is
    // left at the end is a part but for roundings.
    uint32_t small = 0;
    while (small < items && shares[small] >= 1) ++small;
    uint32_t large = 0, open = small;  // `open`: the next of the tail
    for (uint32_t part = small; large < small && part < items;) {
      parts_[part] = {.own = static_cast<uint32_t>(shares[part] * 0x1p32), .other = large};
      shares[large] -= 1 - shares[part];
      if (part == open) ++open;
      part = shares[large] < 1 ? large++ : open;
    }
  }

  uint32_t next(Rng& rng) const {
    const Wide draw = static_cast<Wide>(rng.next()) * parts_.size();
    const auto rank = static_cast<uint32_t>(draw >> 64), at = static_cast<uint32_t>(draw >> 32);
    const Part& part = parts_[rank];
    return at < part.own ? rank : part.other;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  struct Part {
    uint32_t own = 0;    // the rank's own share, in 2^-32 of the part
    uint32_t other = 0;  // whose the rest is
  };
  std::vector<Part> parts_;
};

}  // namespace keydrome::keysets
