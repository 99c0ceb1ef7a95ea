#include "benchmarks/ycsb/item_chooser.h"

#include "base/check.h"

namespace keydrome::ycsb {

ItemChooser::ItemChooser(const Mix& mix, uint64_t records, uint64_t expected_inserts,
                         uint32_t indices, bool zipf_per_index)
    : indices_(indices), per_index_(zipf_per_index && indices > 1) {
  KEYDROME_CHECK(records >= uint64_t{2} * indices);
  const uint64_t laws = per_index_ ? indices : 1;
  if (mix.items == Items::kLatest) {
    latest_.emplace(records / laws - 1);
  } else {
    // One more than there are, as in YCSB: its range includes both ends.
    zipf_.emplace((records + expected_inserts) / laws + 1);
  }
}

uint64_t ItemChooser::next(Rng& rng, uint64_t limit) {
  if (!per_index_) return draw(rng, limit);
  const uint64_t index = rng.below(indices_);
  // Item number n of the index is item n * indices + index of all.
  const uint64_t here = (limit - index + indices_ - 1) / indices_;
  return draw(rng, here) * indices_ + index;
}

uint64_t ItemChooser::draw(Rng& rng, uint64_t limit) {
  if (latest_) return latest_->next(rng, limit - 1);
  uint64_t item = zipf_->next(rng);
  while (item >= limit) item = zipf_->next(rng);
  return item;
}

}  // namespace keydrome::ycsb
