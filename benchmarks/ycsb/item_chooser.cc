// Implements ItemChooser: draws from one distribution over all items, or first chooses an index
// uniformly and then an item of this index.
#include "benchmarks/ycsb/item_chooser.h"

#include "base/check.h"

namespace keydrome::ycsb {

ItemChooser::ItemChooser(const Mix& mix, uint64_t records, uint64_t expected_inserts,
                         uint32_t indices, bool zipf_per_index)
    : indices_(indices), per_index_(zipf_per_index && indices > 1) {
  KEYDROME_CHECK(records >= uint64_t{2} * indices);
  const uint64_t distributions = per_index_ ? indices : 1;
  if (mix.items == Items::kLatest) {
    latest_.emplace(records / distributions - 1);
  } else {
    // The range has one item more than records and expected inserts, because YCSB's range includes
    // both ends.
    zipf_.emplace((records + expected_inserts) / distributions + 1);
  }
}

uint64_t ItemChooser::next(workload::Rng& rng, uint64_t limit) {
  if (!per_index_) return choose(rng, limit);
  const uint64_t index = rng.below(indices_);
  // Item n of the index is item n * indices + index of the whole table.
  const uint64_t in_index = (limit - index + indices_ - 1) / indices_;
  return choose(rng, in_index) * indices_ + index;
}

uint64_t ItemChooser::choose(workload::Rng& rng, uint64_t limit) {
  if (latest_) return latest_->next(rng, limit - 1);
  uint64_t item = zipf_->next(rng);
  while (item >= limit) item = zipf_->next(rng);
  return item;
}

}  // namespace keydrome::ycsb
