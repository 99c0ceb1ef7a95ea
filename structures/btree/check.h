// Implements check and statistic of Tree (tree.h). check tests the invariants of the B+-tree, and
// statistic counts nodes and slots (places for the items of a node). Both visit all nodes.
#pragma once

#include <cstdint>

#include "structures/btree/tree.h"

namespace keydrome::btree {

// Return values of check(): the first broken invariant.
enum Broken : int {
  kHeight = 1,  // leaves have different depths
  kFill,        // a node other than the root is empty, or the root has one child
  kNode,        // a node is not in order, not between its separators, or inconsistent
  kSet,         // a set of payloads is not in order, or its tree is broken
};

template <class Layout>
struct Tree<Layout>::Checker {
  const Tree& tree;

  // Checks the node and all nodes below it. Their keys must be >= `low` and < `high`; nullptr means
  // no bound.
  int check(const Node& node, uint32_t level, const Separator* low, const Separator* high) {
    if (node.level != level) return kHeight;
    const bool is_root = &node == tree.root_;
    const uint32_t least = !is_root ? 1 : level > 0 ? 2 : 0;
    if (Layout::items(node) < least) return kFill;
    if (!Layout::sound(node, low, high)) return kNode;
    return level == 0 ? check_sets(node) : check_children(node, level, low, high);
  }

  int check_sets(const Node& leaf) {
    for (uint32_t i = 0; i < leaf.count; ++i) {
      const PayloadSet set = Layout::value(leaf, i).set;
      if (set != 0 && !Sets::sound(tree.memory_, set)) return kSet;
    }
    return 0;
  }

  int check_children(const Node& node, uint32_t level, const Separator* low,
                     const Separator* high) {
    const uint32_t children = Layout::items(node);
    Separator bounds[2];
    for (uint32_t i = 0; i < children; ++i) {
      const Separator* from = i == 0 ? low : &bounds[i % 2];
      const Separator* to = i + 1 == children ? high : &bounds[(i + 1) % 2];
      if (i + 1 < children) bounds[(i + 1) % 2] = Layout::separator_of(node, i + 1);
      const int broken = check(*Layout::child(node, i), level - 1, from, to);
      if (broken != 0) return broken;
    }
    return 0;
  }
};

template <class Layout>
int Tree<Layout>::check() const {
  if (root_->level >= kLevels) return kHeight;
  return Checker{*this}.check(*root_, root_->level, nullptr, nullptr);
}

template <class Layout>
struct Tree<Layout>::Counter {
  uint64_t nodes = 0;
  uint64_t used = 0;

  void add(const Node& node) {
    ++nodes;
    used += Layout::items(node);
    for (uint32_t i = 0; node.level > 0 && i < Layout::items(node); ++i) {
      add(*Layout::child(node, i));
    }
  }
};

template <class Layout>
uint64_t Tree<Layout>::statistic(uint32_t which) const {
  if (which == KEYDROME_STATISTIC_HEIGHT) return root_->level + 1u;
  Counter counter;
  counter.add(*root_);
  switch (which) {
    case KEYDROME_STATISTIC_NODES:
      return counter.nodes;
    case KEYDROME_STATISTIC_SLOTS:
      return counter.nodes * Layout::kSlots;
    case KEYDROME_STATISTIC_SLOTS_USED:
      return counter.used;
    default:
      return 0;
  }
}

}  // namespace keydrome::btree
