// Implements put() and load() of Tree (tree.h), which add one pair or a run of ascending pairs. All
// memory is allocated before the first change.
#include "structures/csb/tree.h"

namespace keydrome::csb {

int Tree::put(KeydromeBytes key, KeydromeBytes payload) noexcept {
  return add(Probe::of(key, payload));
}

int Tree::add(const Probe& pair) {
  Leaf* leaf = directory_->locate(pair).leaf;
  leaf->prefetch();
  const uint32_t index = leaf->lower_bound(pair);
  if (leaf->has(index, pair)) return 0;
  return insert(leaf, index, pair);
}

int Tree::load(const KeydromeRun& run) noexcept {
  uint32_t at = 0;
  for (uint32_t i = 0; i < run.pairs; ++i) {
    KeydromeBytes key, payload;
    at = keydrome_run_read(&run, at, &key, &payload);
    const int inserted = insert(last_, last_->count, Probe::of(key, payload));
    if (inserted < 0) return inserted;
  }
  return 0;
}

// Inserts a new pair into a leaf at `index`, its position in the order.
int Tree::insert(Leaf* leaf, uint32_t index, const Probe& pair) {
  if (leaf->count == Leaf::kCapacity) return split_and_insert(leaf, index, pair);
  Record* record = memory_.make_record(pair);
  if (record == nullptr) return KEYDROME_NO_MEMORY;
  leaf->insert(index, record);
  return 1;
}

// Allocates everything that a split needs, and makes room for a pending slot (directory.h). Returns
// false if out of memory.
bool Tree::reserve(const Probe& pair, const Probe& fence_pair, Parts& parts) {
  parts = {memory_.make_record(pair), memory_.make_record(fence_pair), memory_.make_leaf()};
  const bool has_parts = parts.record != nullptr && parts.fence != nullptr && parts.leaf != nullptr;
  if (has_parts && (!directory_->is_full() || rebuild())) return true;
  if (parts.record != nullptr) memory_.drop(parts.record);
  if (parts.fence != nullptr) memory_.drop(parts.fence);
  if (parts.leaf != nullptr) memory_.drop(parts.leaf);
  return false;
}

// If pairs are inserted in ascending order, the old leaf stays full, and the new leaf gets only the
// new pair.
int Tree::split_and_insert(Leaf* leaf, uint32_t index, const Probe& pair) {
  const uint32_t kept = index == leaf->count ? leaf->count : leaf->count / 2;
  const bool is_append = kept == leaf->count;
  const Probe fence_pair = is_append ? pair : Probe::of(*leaf->entries[kept].record);
  Parts parts;
  if (!reserve(pair, fence_pair, parts)) return KEYDROME_NO_MEMORY;
  Leaf* right = parts.leaf;
  leaf->move_tail(kept, right);
  if (index < kept || (index == kept && !is_append)) {
    leaf->insert(index, parts.record);
  } else {
    right->insert(index - kept, parts.record);
  }
  right->next = leaf->next;
  leaf->next = right;
  if (last_ == leaf) last_ = right;
  ++leaves_;

  // Dead slots (directory.h) after the fence still refer to the old leaf, but their pairs are now
  // in the right leaf.
  const Place place = directory_->locate(fence_pair);
  directory_->insert_pending(place.item, place.slot, {parts.fence, right});
  for (uint32_t slot = place.slot + 1; slot < directory_->slots(); ++slot) {
    if (directory_->leaf(slot) != leaf) break;
    directory_->leaf(slot) = right;
  }
  return 1;
}

}  // namespace keydrome::csb
