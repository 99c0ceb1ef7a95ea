// Defines the random distributions of the benchmark "mixgraph": keys, payload lengths and scan
// lengths as measured in Facebook's key-value stores.
//
// Source: Z. Cao et al. (FAST 2020), with the constants that RocksDB's db_bench documents for the
// workload of prefix-distributed keys. Each function that returns a random number uses one number
// of `rng`, except HotKeys::next().
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/workload/rng.h"

namespace keydrome::mixgraph {

// Chooses the keys of operations. The keys form 30 ranges of equal size. A few ranges are hot, and
// within a range a few keys are hot.
class HotKeys {
 public:
  static constexpr uint32_t kRanges = 30;

  // `keys` must be at least kRanges. Shuffles the ranges with `rng`.
  HotKeys(uint64_t keys, workload::Rng& rng);

  // Returns a key number below `keys`. Uses two numbers of `rng`.
  uint64_t next(workload::Rng& rng) const;

  // Returns the probability of the i-th hottest range, where i counts from 0.
  double share(uint32_t i) const { return shares_[i]; }
  // Return the first key of the i-th hottest range, and the number of keys of every range.
  uint64_t first_key(uint32_t i) const { return positions_[i] * size(); }
  uint64_t size() const { return keys_ / kRanges; }

 private:
  uint64_t keys_;
  std::vector<double> shares_;       // probabilities of the ranges, hottest first; their sum is 1
  std::vector<uint32_t> positions_;  // by i: position of the i-th hottest range in key order
};

// Returns the length of a payload in bytes, from a generalised Pareto distribution clamped to 10 ..
// 100. The limit of 100 is ours; 6.7 % of the published values are longer.
uint32_t random_value_bytes(workload::Rng& rng);

// Returns the number of records of a scan, from a generalised Pareto distribution. Lengths above
// 10,000 are taken modulo 10,000.
uint32_t random_scan_length(workload::Rng& rng);

}  // namespace keydrome::mixgraph
