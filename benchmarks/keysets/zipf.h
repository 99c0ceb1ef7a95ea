// ZipfTable: a Zipf distribution with any exponent, from a table of all ranks.
// YCSB's Zipf distribution in kit/workload/distributions.h is only approximate, and its exponent
// must be below 1.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "benchmarks/kit/workload/rng.h"

namespace keydrome::keysets {

// Draws ranks by the alias method (A. Walker, 1977; M. Vose, 1991). The whole probability is
// divided into as many equal parts as there are ranks. Each part is divided between its own rank
// and one other rank, with a precision of 2^-32. So next() reads only one part.
// Immutable after construction and therefore thread-safe.
class ZipfTable {
 public:
  // The ranks are 0 .. items-1, and rank 0 is the most frequent. `items` must be positive.
  ZipfTable(uint32_t items, double exponent) {
    std::vector<double> shares(items);  // probabilities not yet assigned; 1 is a whole part
    double sum = 0;
    for (uint32_t rank = 0; rank < items; ++rank) {
      shares[rank] = std::pow(rank + 1.0, -exponent);
      sum += shares[rank];
    }
    for (double& share : shares) share *= items / sum;
    for (uint32_t rank = 0; rank < items; ++rank) parts_.push_back({UINT32_MAX, rank});
    // The shares decrease with rank, so those below 1 are at the end and leave room in their parts.
    // The share of the first rank fills this room, part by part, until less than 1 is left of the
    // share. Then the first rank's own part has room too. The share of the next rank first fills
    // this part, and then the next parts at the end.
    uint32_t small = 0;
    while (small < items && shares[small] >= 1) ++small;
    // `large`: the rank whose share fills parts. `open`: the next rank at the end whose part has
    // room.
    uint32_t large = 0, open = small;
    for (uint32_t part = small; large < small && part < items;) {
      parts_[part] = {.own = static_cast<uint32_t>(shares[part] * 0x1p32), .other = large};
      shares[large] -= 1 - shares[part];
      if (part == open) ++open;
      part = shares[large] < 1 ? large++ : open;
    }
  }

  uint32_t next(workload::Rng& rng) const {
    const Wide scaled = static_cast<Wide>(rng.next()) * parts_.size();
    const auto rank = static_cast<uint32_t>(scaled >> 64), at = static_cast<uint32_t>(scaled >> 32);
    const Part& part = parts_[rank];
    return at < part.own ? rank : part.other;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  struct Part {
    uint32_t own = 0;    // fraction of the part's own rank, in units of 2^-32
    uint32_t other = 0;  // the rank that has the rest of the part
  };
  std::vector<Part> parts_;
};

}  // namespace keydrome::keysets
