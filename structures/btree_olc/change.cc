// Implements put, del and replace of Tree. Each first tries to change one leaf, with the latch of
// this leaf only. Otherwise it takes the tree latch and begins again (rebuild.h).
#include <bit>

#include "structures/btree_olc/rebuild.h"
#include "structures/btree_olc/tree.h"

namespace keydrome::btree_olc {
namespace {

// A result of Tree::replace_in(): the leaf alone is not enough.
constexpr int kNotInLeaf = 3;

// A leaf with few pairs is merged with a neighbour. If the neighbours have too many pairs, it is
// tried again when half of the pairs are gone, so that few deletions take the tree latch.
bool should_merge(uint32_t count) {
  constexpr uint32_t kFew = 16;
  return count <= kFew && (count == 0 || std::has_single_bit(count));
}

}  // namespace

// Finds and latches the leaf of a place.
Node& Tree::latched_leaf_of(const Probe& probe) const {
  for (;;) {
    Node* leaf = leaf_of(probe);
    if (leaf->version.latch()) return *leaf;
  }
}

int Tree::put(KeydromeBytes key, KeydromeBytes payload) noexcept {
  const Pair pair{Span::of(key), Span::of(payload)};
  const Probe probe = Probe::at(pair);
  Node& leaf = latched_leaf_of(probe);
  const auto slot = static_cast<uint32_t>(Leaf::place(leaf, probe));
  const bool exists = Leaf::holds(leaf, slot, pair);
  const bool is_inserted = !exists && Leaf::insert(leaf, slot, pair);
  leaf.version.unlatch(is_inserted);
  if (exists) return 0;
  return is_inserted ? 1 : put_with_tree_latch(pair);
}

int Tree::put_with_tree_latch(const Pair& pair) {
  const TreeLatch::Held held(tree_latch_);
  Rebuild rebuild(*this, Probe::at(pair));
  Node& leaf = rebuild.leaf();
  const auto slot = static_cast<uint32_t>(Leaf::place(leaf, Probe::at(pair)));
  if (Leaf::holds(leaf, slot, pair)) return 0;
  if (Leaf::insert(leaf, slot, pair)) {
    rebuild.leaf_is_changed();
    return 1;
  }
  return rebuild.insert(slot, pair) ? 1 : KEYDROME_NO_MEMORY;
}

int Tree::del(KeydromeBytes key, KeydromeBytes payload) noexcept {
  const Pair pair{Span::of(key), Span::of(payload)};
  const Probe probe = Probe::at(pair);
  Node& leaf = latched_leaf_of(probe);
  const auto slot = static_cast<uint32_t>(Leaf::place(leaf, probe));
  const bool exists = Leaf::holds(leaf, slot, pair);
  if (exists) Leaf::erase(leaf, slot);
  const uint32_t left = leaf.count;
  leaf.version.unlatch(exists);
  if (exists && should_merge(left)) merge(probe);
  return exists ? 1 : 0;
}

void Tree::merge(const Probe& probe) {
  const TreeLatch::Held held(tree_latch_);
  Rebuild rebuild(*this, probe);
  if (should_merge(rebuild.leaf().count)) rebuild.merge();
}

int Tree::replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) noexcept {
  const Pair old{Span::of(key), Span::of(before)};
  const Pair pair{Span::of(key), Span::of(now)};
  Node& leaf = latched_leaf_of(Probe::at(old));
  const int result = replace_in(leaf, old, pair);
  leaf.version.unlatch(result == 1);
  return result == kNotInLeaf ? replace_with_tree_latch(old, pair) : result;
}

int Tree::replace_in(Node& leaf, const Pair& before, const Pair& now) {
  const auto from = static_cast<uint32_t>(Leaf::place(leaf, Probe::at(before)));
  if (!Leaf::holds(leaf, from, before)) return 0;
  // If heads are payload bytes after a prefix, they say nothing of a payload without this prefix.
  if (leaf.head_is_payload && leaf_of(Probe::at(now)) != &leaf) return kNotInLeaf;
  const auto to = static_cast<uint32_t>(Leaf::place(leaf, Probe::at(now)));
  // Between two pairs of the leaf, a place is in the range of the leaf.
  const bool is_inside = to > 0 && to < leaf.count;
  if (!is_inside && leaf_of(Probe::at(now)) != &leaf) return kNotInLeaf;
  if (Leaf::holds(leaf, to, now)) return 2;
  if ((to == from || to == from + 1) && Leaf::assign(leaf, from, now)) return 1;
  if (!Leaf::fits_instead(leaf, from, now)) return kNotInLeaf;
  Leaf::erase(leaf, from);
  Leaf::insert(leaf, to > from ? to - 1 : to, now);
  return 1;
}

// Both leaves are latched until both are changed, so nobody sees both pairs, or none.
int Tree::replace_with_tree_latch(const Pair& before, const Pair& now) {
  const TreeLatch::Held held(tree_latch_);
  Rebuild old(*this, Probe::at(before));
  const auto from = static_cast<uint32_t>(Leaf::place(old.leaf(), Probe::at(before)));
  if (!Leaf::holds(old.leaf(), from, before)) return 0;
  if (leaf_of(Probe::at(now)) == &old.leaf()) {
    const int result = replace_in(old.leaf(), before, now);
    if (result == 1) old.leaf_is_changed();
    if (result != kNotInLeaf) return result;
    const auto to = static_cast<uint32_t>(Leaf::place(old.leaf(), Probe::at(now)));
    return old.insert_instead(to, now, from) ? 1 : KEYDROME_NO_MEMORY;
  }
  Rebuild other(*this, Probe::at(now));
  const auto to = static_cast<uint32_t>(Leaf::place(other.leaf(), Probe::at(now)));
  if (Leaf::holds(other.leaf(), to, now)) return 2;
  if (Leaf::insert(other.leaf(), to, now)) {
    other.leaf_is_changed();
  } else if (!other.insert(to, now)) {
    return KEYDROME_NO_MEMORY;
  }
  Leaf::erase(old.leaf(), from);
  old.leaf_is_changed();
  return 1;
}

}  // namespace keydrome::btree_olc
