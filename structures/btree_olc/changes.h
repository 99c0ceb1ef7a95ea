// Tree: the calls that change the B+-tree. Each call first tries to change one leaf, with the latch
// of this leaf only. If the leaf has no room, the call begins again with the tree latch
// (rebuild.h).
#pragma once

#include <cstdint>

#include "keydrome/structure.h"
#include "structures/btree_olc/leaf.h"
#include "structures/btree_olc/reads.h"

namespace keydrome::btree_olc {

// A result of replace_in_leaf(): the leaf has no room for the new pair, or the new pair belongs to
// another leaf.
inline constexpr int kNotInLeaf = 3;

template <class Search>
int replace_in_leaf(Node* root, Node& leaf, const Pair& before, const Pair& now) {
  using In = NodeSearch<Search>;
  const uint32_t from = In::place(leaf, Probe::at(before));
  if (!Leaf::holds(leaf, from, before)) return 0;
  const auto is_here = [&] { return leaf_below<Search>(root, Probe::at(now)) == &leaf; };
  // In some leaves, the heads (node.h) are bytes of payloads, after a prefix that all payloads of
  // the leaf share. There place() is wrong for a new payload without this prefix.
  if (leaf.head_is_payload && !is_here()) return kNotInLeaf;
  const uint32_t to = In::place(leaf, Probe::at(now));
  // A place between two pairs of the leaf is certainly in the range of the leaf.
  const bool is_inside = to > 0 && to < leaf.count;
  if (!is_inside && !is_here()) return kNotInLeaf;
  if (Leaf::holds(leaf, to, now)) return 2;
  if ((to == from || to == from + 1) && Leaf::assign(leaf, from, now)) return 1;
  if (!Leaf::fits_instead(leaf, from, now)) return kNotInLeaf;
  Leaf::erase(leaf, from);
  Leaf::insert(leaf, to > from ? to - 1 : to, now);
  return 1;
}

template <class Search>
class Tree : public Reads<Search> {
 public:
  Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup)
      : Reads<Search>(environment, setup) {}

  int put(KeydromeBytes key, KeydromeBytes payload) noexcept {
    const Pair pair{Span::of(key), Span::of(payload)};
    const Probe probe = Probe::at(pair);
    Node& leaf = latched_leaf_of(probe);
    const uint32_t slot = In::place(leaf, probe);
    const bool exists = Leaf::holds(leaf, slot, pair);
    const bool is_inserted = !exists && Leaf::insert(leaf, slot, pair);
    leaf.version.unlatch(is_inserted);
    if (exists) return 0;
    return is_inserted ? 1 : this->put_with_tree_latch(pair);
  }

  int del(KeydromeBytes key, KeydromeBytes payload) noexcept {
    const Pair pair{Span::of(key), Span::of(payload)};
    const Probe probe = Probe::at(pair);
    Node& leaf = latched_leaf_of(probe);
    const uint32_t slot = In::place(leaf, probe);
    const bool exists = Leaf::holds(leaf, slot, pair);
    if (exists) Leaf::erase(leaf, slot);
    const uint32_t left = leaf.count;
    leaf.version.unlatch(exists);
    if (exists && this->should_merge(left)) this->merge(probe);
    return exists ? 1 : 0;
  }

  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) noexcept {
    const Pair old{Span::of(key), Span::of(before)};
    const Pair pair{Span::of(key), Span::of(now)};
    Node& leaf = latched_leaf_of(Probe::at(old));
    const int result = replace_in_leaf<Search>(this->root(), leaf, old, pair);
    leaf.version.unlatch(result == 1);
    return result == kNotInLeaf ? this->replace_with_tree_latch(old, pair) : result;
  }

  int load(const KeydromeRun& run) noexcept {
    KeydromeBytes key, payload;
    for (uint32_t at = 0; at < run.size;) {
      at = keydrome_run_read(&run, at, &key, &payload);
      if (put(key, payload) < 0) return KEYDROME_NO_MEMORY;
    }
    return 0;
  }

 private:
  using In = NodeSearch<Search>;

  Node& latched_leaf_of(const Probe& probe) const {
    for (;;) {
      Node* leaf = leaf_below<Search>(this->root(), probe);
      if (leaf->version.latch()) return *leaf;
    }
  }
};

}  // namespace keydrome::btree_olc
