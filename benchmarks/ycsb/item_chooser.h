// Which item the next operation asks for.
#pragma once

#include <cstdint>
#include <optional>

#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/ycsb_random.h"
#include "benchmarks/ycsb/mixes.h"

namespace keydrome::ycsb {

// Item i lives in index i mod `indices`. With one Zipf law over all items the indices share the
// heat by chance; with one inside each index all are equally hot.
class ItemChooser {
 public:
  // `expected_inserts` widens the range of the scrambled law, as YCSB does, so that a new item may
  // be a hot one; until it is there another is drawn instead.
  ItemChooser(const Mix& mix, uint64_t records, uint64_t expected_inserts, uint32_t indices,
              bool zipf_per_index);

  // An item below `limit`, the number of items that have been written: at least `records`.
  uint64_t next(Rng& rng, uint64_t limit);

 private:
  uint64_t draw(Rng& rng, uint64_t limit);

  uint32_t indices_;
  bool per_index_;
  std::optional<ScrambledZipf> zipf_;
  std::optional<LatestZipf> latest_;
};

}  // namespace keydrome::ycsb
