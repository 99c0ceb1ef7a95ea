// Implements ItemChooser: draws from one distribution over all items, or first chooses an index
// uniformly and then an item of this index.
#include "benchmarks/ycsb/item_chooser.h"

#include <algorithm>

#include "base/check.h"

namespace keydrome::ycsb {
namespace {

// YCSB's default values.
constexpr double kHotItems = 0.2, kHotShare = 0.8;
constexpr double kExponentialPercentile = 95, kExponentialItems = 6.0 / 7;

}  // namespace

ItemChooser::ItemChooser(const Mix& mix, uint64_t records, uint64_t new_items_max, uint32_t indices,
                         bool zipf_per_index)
    : items_(mix.items), indices_(indices), per_index_(zipf_per_index && indices > 1) {
  KEYDROME_CHECK(records >= uint64_t{2} * indices);
  const uint64_t distributions = per_index_ ? indices : 1;
  const uint64_t items = records / distributions;
  const auto share = [&](double of) { return of * static_cast<double>(items); };
  switch (items_) {
    case Items::kLatest:
      latest_.emplace(items - 1);
      break;
    case Items::kZipf:
      // The range has one item more than records and new items, because YCSB's range includes
      // both ends.
      zipf_.emplace((records + new_items_max) / distributions + 1);
      break;
    case Items::kHotspot:
      hotspot_.emplace(items, std::max(uint64_t{1}, static_cast<uint64_t>(share(kHotItems))),
                       kHotShare);
      break;
    case Items::kExponential:
      exponential_.emplace(kExponentialPercentile, share(kExponentialItems));
      break;
    case Items::kUniform:
      break;
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
  uint64_t item = 0;
  switch (items_) {
    case Items::kLatest:
      return latest_->next(rng, limit - 1);
    case Items::kUniform:
      return rng.below(limit);
    case Items::kHotspot:
      return hotspot_->next(rng);
    case Items::kExponential:
      do {
        item = exponential_->next(rng);
      } while (item >= limit);
      return limit - 1 - item;
    case Items::kZipf:
      do {
        item = zipf_->next(rng);
      } while (item >= limit);
  }
  return item;
}

}  // namespace keydrome::ycsb
