// Rebuild: replaces nodes by new ones, for the thread that has the tree latch (the latch of threads
// that replace nodes; version.h).
//
// One object makes one change. It finds the path to the place of a probe (pair.h), latches the
// leaf, and makes new leaves. It also replaces the inner nodes above, as far as their number of
// children changes. One store at the end, of a child or of the root, makes all new nodes visible.
// If memory runs out before this store, nothing has changed. After the store, the old leaves become
// obsolete, and the old nodes are retired.
#pragma once

#include <cstdint>

#include "structures/btree_olc/build.h"
#include "structures/btree_olc/tree.h"

namespace keydrome::btree_olc {

class Rebuild {
 public:
  // The caller has the tree latch. Finds the leaf that the probe leads to, and latches it.
  Rebuild(TreeBase& tree, const Probe& probe);
  Rebuild(const Rebuild&) = delete;
  Rebuild& operator=(const Rebuild&) = delete;
  // Unlatches leaves, and drops new nodes that did not become visible.
  ~Rebuild();

  Node& leaf() const { return *path_[0]; }
  // Must be called if the caller has changed the leaf itself. The destructor then increases the
  // version of the leaf.
  void leaf_is_changed() { is_changed_ = true; }

  // Replaces the leaf by one or two new leaves with its pairs and the given pair. Returns false if
  // out of memory.
  bool insert(uint32_t slot, const Pair& pair);
  // Does the same as insert(), but the new leaves do not get the pair of slot `erased`. `slot` is
  // the place that the new pair would have if no pair were erased.
  bool insert_instead(uint32_t slot, const Pair& pair, uint32_t erased);
  // Merges the leaf with a neighbour, if both together have few enough pairs.
  void merge();

 private:
  // One or two new nodes that replace one or two children of a parent.
  struct Part {
    uint32_t first;  // the first child that is replaced
    uint32_t old;    // number of children that are replaced, 1 or 2
    uint32_t count;  // number of new ones, 1 or 2
    Node* nodes[2];
    Pair separator;  // between two new ones
  };

  Fence low_fence(uint32_t level, uint32_t index) const;
  Fence high_fence(uint32_t level, uint32_t index) const;
  Fences fences(uint32_t level, uint32_t first, uint32_t last) const;
  bool replace_leaves(const Pairs& pairs, uint32_t first, uint32_t old, bool append);
  bool replace(uint32_t level, const Part& part);
  bool replace_top(const Part& part);
  bool replace_inner(uint32_t level, Children& children);
  bool divide(uint32_t level, const Children& children, uint32_t first, uint32_t old);
  bool join(uint32_t level, const Children& children);
  // The index of path_[level] in its parent.
  uint32_t index(uint32_t level) const { return level == top_ ? 0 : at_[level + 1]; }
  const Inner& parent(uint32_t level) const { return inner(*path_[level + 1]); }

  Node* made(Node* node);
  void replaced(Node* node) { replaced_[replaced_count_++] = node; }
  void become_visible();

  TreeBase& tree_;
  uint32_t top_;               // level of the root
  Node* path_[kLevels];        // by level; path_[0] is the leaf
  uint32_t at_[kLevels];       // the index of the child of path_[level] that is on the path
  Node* neighbour_ = nullptr;  // a second leaf that is latched
  bool is_changed_ = false;
  bool is_visible_ = false;
  Node* made_[2 * kLevels + 2];
  Node* replaced_[2 * kLevels + 2];
  uint32_t made_count_ = 0;
  uint32_t replaced_count_ = 0;
};

}  // namespace keydrome::btree_olc
