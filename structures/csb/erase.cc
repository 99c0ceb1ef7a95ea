// Implements del() and replace() of Tree (tree.h), which delete a pair or change its payload.
#include "structures/csb/tree.h"

namespace keydrome::csb {
namespace {

// A leaf with at most this many records takes the records of the next leaf, if both leaves together
// have at most kMerged.
constexpr uint32_t kSmall = Leaf::kCapacity * 3 / 8;
constexpr uint32_t kMerged = Leaf::kCapacity * 3 / 4;

bool should_merge_next(const Leaf& leaf) {
  if (leaf.next() == nullptr) return false;
  if (leaf.count == 0) return true;
  return leaf.count <= kSmall && leaf.count + leaf.next()->count <= kMerged;
}

}  // namespace

int Tree::del(KeydromeBytes key, KeydromeBytes payload) noexcept {
  return remove(Probe::of(key, payload));
}

// Erases a pair. Never fails: if there is no memory to merge leaves of different kinds (entry.h) or
// for a new directory, they stay as they are. Only the last leaf can be empty.
int Tree::remove(const Probe& pair) {
  Leaf* leaf = directory_->find(pair);
  leaf->prefetch();
  const uint32_t index = leaf->lower_bound(pair);
  if (!leaf->has(index, pair)) return 0;
  memory_.drop(leaf->kind, leaf->entries[index]);
  leaf->erase(index);
  if (leaf->count == 0) leaf->kind = kind_;
  if (should_merge_next(*leaf) && have_one_kind(*leaf, *leaf->next())) {
    merge_next(directory_->locate(pair));
    if (directory_->has_many_dead()) rebuild();
  }
  return 1;
}

// Moves the pairs of the next leaf to the leaf at `place`, and frees the next leaf. The slot of
// the next leaf is the first slot after `place` that refers to another leaf. A pending slot
// (directory.h) is removed from the list. A directory slot becomes dead (directory.h). Dead slots
// that referred to the next leaf follow directly, and now refer to the remaining leaf.
void Tree::merge_next(const Place& place) {
  Leaf* leaf = place.leaf;
  Leaf* next = leaf->next();
  next->move_tail(0, leaf);
  leaf->next() = next->next();
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

// Replaces a pair of a leaf by the pair `now`, if it belongs to the same place of this leaf, and if
// the kind of the leaf allows it. Returns what Tree::replace returns, or kElsewhere. Pairs usually
// belong to the same place if the key has one payload.
int Tree::replace_in(Leaf* leaf, uint32_t index, const Probe& now) {
  const int order = leaf->compare_at(index, now);
  if (order == 0) return 2;
  if (leaf->kind == Kind::kWords && kind_for(now) != Kind::kWords) return kElsewhere;
  const bool is_smaller = order > 0;
  const bool is_at_end = is_smaller ? index == 0 : index + 1 == leaf->count;
  if (is_at_end) {
    if (directory_->find(now) != leaf) return kElsewhere;
  } else {
    const int next_order = leaf->compare_at(is_smaller ? index - 1 : index + 1, now);
    if (is_smaller ? next_order >= 0 : next_order <= 0) return kElsewhere;
  }
  Entry entry;
  if (!memory_.make_entry(leaf->kind, now, entry)) return KEYDROME_NO_MEMORY;
  memory_.drop(leaf->kind, leaf->entries[index]);
  leaf->entries[index] = entry;
  return 1;
}

int Tree::replace(KeydromeBytes key, KeydromeBytes before_bytes, KeydromeBytes now_bytes) noexcept {
  const Probe before = Probe::of(key, before_bytes);
  const Probe now = Probe::of(key, now_bytes);
  Leaf* leaf = directory_->find(before);
  leaf->prefetch();
  const uint32_t index = leaf->lower_bound(before);
  if (!leaf->has(index, before)) return 0;
  const int replaced = replace_in(leaf, index, now);
  if (replaced != kElsewhere) return replaced;
  const int inserted = add(now);
  if (inserted < 0) return inserted;
  if (inserted == 0) return 2;
  remove(before);
  return 1;
}

}  // namespace keydrome::csb
