// The laws that the mixgraph workload fits to what Facebook's key-value stores were asked.
//
// Z. Cao et al. (FAST 2020), with the constants that RocksDB's db_bench documents for the workload
// of prefix-distributed keys. Each draws once unless it says otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/rng.h"

namespace keydrome::mixgraph {

// Which key is asked for: keys lie in 30 ranges of equal size, of which few are hot, and inside a
// range few keys are.
class HotKeys {
 public:
  static constexpr uint32_t kRanges = 30;

  // At least one key for each range. `rng` shuffles the ranges.
  HotKeys(uint64_t keys, Rng& rng);

  // Draws twice.
  uint64_t next(Rng& rng) const;

  // How likely the i-th hottest range is, i from 0.
  double share(uint32_t i) const { return shares_[i]; }
  // Where it begins, and how many keys it has.
  uint64_t first_key(uint32_t i) const { return places_[i] * size(); }
  uint64_t size() const { return keys_ / kRanges; }

 private:
  uint64_t keys_;
  std::vector<double> shares_;    // adding up to one, the hottest first
  std::vector<uint32_t> places_;  // of the i-th hottest among the ranges in the order of the keys
};

// Bytes of a value by a generalised Pareto law: from 10 to 100, which is where ours end; 6.7 % of
// the published ones are longer.
uint32_t draw_value_bytes(Rng& rng);

// Records of a scan by a generalised Pareto law, 1 to 10,000; what is longer counts modulo 10,000.
uint32_t draw_scan_length(Rng& rng);

}  // namespace keydrome::mixgraph
