// Chooses the item that each operation of the benchmark "ycsb" uses.
#pragma once

#include <cstdint>
#include <optional>

#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/kit/workload/rng.h"
#include "benchmarks/ycsb/mixes.h"

namespace keydrome::ycsb {

// Chooses items from the distribution of a mix. Item i is stored in index i mod `indices`. With
// one Zipf distribution over all items, some indices are hotter than others by chance. With
// `zipf_per_index` each index has a distribution of its own, and all indices are equally hot. Not
// thread-safe.
class ItemChooser {
 public:
  // `new_items_max` extends the range of the scrambled Zipf distribution, as in YCSB, so that a new
  // item can be hot. next() chooses again while the chosen item does not exist.
  ItemChooser(const Mix& mix, uint64_t records, uint64_t new_items_max, uint32_t indices,
              bool zipf_per_index);

  // Returns an item below `limit`, the number of existing items. `limit` must be at least
  // `records`.
  uint64_t next(workload::Rng& rng, uint64_t limit);

 private:
  uint64_t choose(workload::Rng& rng, uint64_t limit);

  Items items_;
  uint32_t indices_;
  bool per_index_;
  std::optional<workload::ScrambledZipf> zipf_;
  std::optional<workload::LatestZipf> latest_;
  std::optional<workload::Hotspot> hotspot_;
  std::optional<workload::Exponential> exponential_;
};

}  // namespace keydrome::ycsb
