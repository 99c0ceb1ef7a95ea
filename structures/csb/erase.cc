// Implements del() and replace() of Tree (tree.h), which delete a pair or change its payload.
#include "structures/csb/tree.h"

namespace keydrome::csb {
namespace {

// A leaf with at most this many records takes the records of the next leaf, if both leaves together
// have at most kMerged.
constexpr uint32_t kSmall = Leaf::kCapacity * 3 / 8;
constexpr uint32_t kMerged = Leaf::kCapacity * 3 / 4;

bool should_merge_next(const Leaf& leaf) {
  if (leaf.next == nullptr) return false;
  if (leaf.count == 0) return true;
  return leaf.count <= kSmall && leaf.count + leaf.next->count <= kMerged;
}

}  // namespace

int Tree::del(KeydromeBytes key, KeydromeBytes payload) noexcept {
  return remove(Probe::of(key, payload));
}

// Erases a pair. Never fails: if there is no memory for a new directory, the old one stays in use.
// Only the last leaf can be empty.
int Tree::remove(const Probe& pair) {
  const Place place = directory_->locate(pair);
  Leaf* leaf = place.leaf;
  const uint32_t index = leaf->lower_bound(pair);
  if (!leaf->has(index, pair)) return 0;
  memory_.drop(leaf->entries[index].record);
  leaf->erase(index);
  if (should_merge_next(*leaf)) {
    merge_next(place);
    if (directory_->has_many_dead()) rebuild();
  }
  return 1;
}

// Moves the records of the next leaf to the leaf at `place`, and frees the next leaf. The slot of
// the next leaf is the first slot after `place` that refers to another leaf. A pending slot
// (directory.h) is removed from the list. A directory slot becomes dead (directory.h). Dead slots
// that referred to the next leaf follow directly, and now refer to the remaining leaf.
void Tree::merge_next(const Place& place) {
  Leaf* leaf = place.leaf;
  Leaf* next = leaf->next;
  next->move_tail(0, leaf);
  leaf->next = next->next;
  if (last_ == next) last_ = leaf;
  --leaves_;

  Directory& directory = *directory_;
  uint32_t slot = place.slot;
  for (;;) {
    if (place.item < directory.pending_count() && directory.pending_after(place.item) == slot) {
      memory_.drop(directory.pending(place.item).fence);
      directory.erase_pending(place.item);
      break;
    }
    if (directory.leaf(++slot) != leaf) {
      directory.leaf(slot) = leaf;
      directory.count_dead();
      break;
    }
  }
  for (++slot; slot < directory.slots() && directory.leaf(slot) == next; ++slot) {
    directory.leaf(slot) = leaf;
  }
  memory_.drop(next);
}

// If the new pair belongs between the same two records of the leaf as the old pair, only the record
// is replaced. This is always the case if the key has one payload, and its record is neither the
// first nor the last of the leaf.
int Tree::replace(KeydromeBytes key, KeydromeBytes before_bytes, KeydromeBytes now_bytes) noexcept {
  const Probe before = Probe::of(key, before_bytes);
  const Probe now = Probe::of(key, now_bytes);
  Leaf* leaf = directory_->locate(before).leaf;
  const uint32_t index = leaf->lower_bound(before);
  if (!leaf->has(index, before)) return 0;
  const int order = compare(*leaf->entries[index].record, now);
  if (order == 0) return 2;
  const bool fits_left = index > 0 ? compare(*leaf->entries[index - 1].record, now) < 0 : order < 0;
  const bool fits_right =
      index + 1 < leaf->count ? compare(*leaf->entries[index + 1].record, now) > 0 : order > 0;
  if (fits_left && fits_right) {
    Record* record = memory_.make_record(now);
    if (record == nullptr) return KEYDROME_NO_MEMORY;
    memory_.drop(leaf->entries[index].record);
    leaf->entries[index].record = record;
    return 1;
  }
  const int inserted = add(now);
  if (inserted < 0) return inserted;
  if (inserted == 0) return 2;
  remove(before);
  return 1;
}

}  // namespace keydrome::csb
