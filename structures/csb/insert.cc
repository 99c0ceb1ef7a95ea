// Implements put() and load() of Tree (tree.h), which add one pair or a run of ascending pairs. All
// memory is allocated before the first change.
#include "structures/csb/tree.h"

namespace keydrome::csb {

int Tree::put(KeydromeBytes key, KeydromeBytes payload) noexcept {
  return add(Probe::of(key, payload));
}

int Tree::add(const Probe& pair) {
  Leaf* leaf = directory_->find(pair);
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

// Inserts a new pair into a leaf at `index`, its position in the order. A pair at the end of a full
// leaf gets a leaf of its own, so the kind of the full leaf does not matter.
int Tree::insert(Leaf* leaf, uint32_t index, const Probe& pair) {
  const bool is_full = leaf->count == Leaf::kCapacity;
  const bool gets_leaf = is_full && index == leaf->count;
  if (leaf->kind == Kind::kWords && kind_for(pair) != Kind::kWords && !gets_leaf) {
    return insert_into_words(leaf, index, pair);
  }
  if (is_full) return split_and_insert(leaf, index, pair);
  Entry entry;
  if (!memory_.make_entry(leaf->kind, pair, entry)) return KEYDROME_NO_MEMORY;
  leaf->insert(index, entry);
  return 1;
}

// Inserts a pair that is not a word pair into a leaf of word pairs (entry.h).
int Tree::insert_into_words(Leaf* leaf, uint32_t index, const Probe& pair) {
  if (!to_records(*leaf)) return KEYDROME_NO_MEMORY;
  const int inserted = insert(leaf, index, pair);
  if (inserted < 0) to_words(*leaf);
  return inserted;
}

// Returns a fence, i.e. a lower bound, of the pairs to the right of the cut. If the first of these
// pairs is the smallest of its key, the fence is the key without a payload. All pairs of the key
// are then to the right of the fence, so a search for the key alone begins in the right leaf.
Record* Tree::make_fence(const Leaf& leaf, const Cut& cut, const Probe& pair) const {
  const auto make = [&](const Probe& before, Probe fence) {
    if (!has_equal_key(before, fence)) fence.payload_size = 0;
    return memory_.make_record(fence);
  };
  const StoredPair last(leaf.kind, leaf.entries[cut.kept - 1]);
  if (cut.is_append) return make(*last, pair);
  const StoredPair first(leaf.kind, leaf.entries[cut.kept]);
  return make(cut.index == cut.kept ? pair : *last, *first);
}

// Allocates everything that a split needs, and makes room for a pending slot (directory.h). Returns
// false if out of memory.
bool Tree::reserve(const Leaf& leaf, const Cut& cut, const Probe& pair, Parts& parts) {
  const Kind kind = cut.is_append ? kind_for(pair) : leaf.kind;
  const bool has_entry = memory_.make_entry(kind, pair, parts.entry);
  parts.fence = make_fence(leaf, cut, pair);
  parts.leaf = memory_.make_leaf(kind);
  const bool has_parts = has_entry && parts.fence != nullptr && parts.leaf != nullptr;
  if (has_parts && (!directory_->is_full() || rebuild())) return true;
  if (has_entry) memory_.drop(kind, parts.entry);
  if (parts.fence != nullptr) memory_.drop(parts.fence);
  if (parts.leaf != nullptr) memory_.drop(parts.leaf);
  return false;
}

int Tree::split_and_insert(Leaf* leaf, uint32_t index, const Probe& pair) {
  const Cut cut(*leaf, index);
  Parts parts;
  if (!reserve(*leaf, cut, pair, parts)) return KEYDROME_NO_MEMORY;
  Leaf* right = parts.leaf;
  if (!cut.is_append) leaf->move_tail(cut.kept, right);
  if (cut.is_left) {
    leaf->insert(index, parts.entry);
  } else {
    right->insert(index - cut.kept, parts.entry);
  }
  right->next() = leaf->next();
  leaf->next() = right;
  if (last_ == leaf) last_ = right;
  ++leaves_;
  add_slot(leaf, right, parts.fence);
  return 1;
}

// Makes a pending slot for the leaf `right`, which a split of `left` has made. Dead slots
// (directory.h) after the fence still refer to the left leaf, but their pairs are now in the right
// one.
void Tree::add_slot(const Leaf* left, Leaf* right, Record* fence) {
  const Place place = directory_->locate(Probe::of(*fence));
  directory_->insert_pending(place.item, place.slot, {fence, right});
  for (uint32_t slot = place.slot + 1; slot < directory_->slots(); ++slot) {
    if (directory_->leaf(slot) != left) break;
    directory_->leaf(slot) = right;
  }
}

}  // namespace keydrome::csb
