// TreeBase: the root of a thread-safe B+-tree over pairs, and the slow paths of calls, which take
// the tree latch. The usual paths are in reads.h and changes.h. Read node.h first.
//
// Sources: V. Leis, M. Haubenschild, T. Neumann, "Optimistic Lock Coupling: A Scalable and
// Efficient General-Purpose Synchronization Method", IEEE Data Engineering Bulletin 2019; V. Leis,
// F. Scheibner, A. Kemper, T. Neumann, "The ART of Practical Synchronization", DaMoN 2016; R.
// Bayer, M. Schkolnick, "Concurrency of Operations on B-Trees", Acta Informatica 1977.
//
// Thread safety: all functions but check, clear and load may run at the same time.
//
// - A search checks no version on its way to a leaf. Inner nodes do not change, except that a new
//   child may take the place of an old one. A child always has the pairs between its separators. So
//   even a search through a replaced inner node ends in the right leaf, or in an obsolete one; then
//   it begins again.
// - A change of one leaf latches only this leaf.
// - To replace nodes, a thread takes the tree latch, finds the path again, and latches the leaves
//   that it replaces. It makes all new nodes, and then stores one pointer, which makes them
//   visible. The old leaves stay latched until they are obsolete (rebuild.h).
// - The runtime frees retired nodes only after all calls that could read them have ended.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/btree_olc/node.h"
#include "structures/btree_olc/pair.h"
#include "structures/btree_olc/version.h"

namespace keydrome::btree_olc {

// The largest height. A root has more than 40 children when it is divided, so a tree of this height
// has more pairs than any address space can hold.
inline constexpr uint32_t kLevels = 20;

class TreeBase {
 public:
  TreeBase(const TreeBase&) = delete;
  TreeBase& operator=(const TreeBase&) = delete;

  // These functions are those of keydrome/structure_class.h.
  int check() const;  // check.cc
  uint64_t statistic(uint32_t which) const;

 protected:
  // Throws std::bad_alloc if out of memory.
  TreeBase(const KeydromeEnvironment& environment, const KeydromeSetup& setup);
  ~TreeBase();

  Node* root() const { return root_.load(std::memory_order_acquire); }

  // The slow paths. They take the tree latch, so no other thread replaces nodes meanwhile. A change
  // calls one of them if its leaf has no room, and find does after it has met many empty leaves.
  int put_with_tree_latch(const Pair& pair);
  int replace_with_tree_latch(const Pair& before, const Pair& now);
  int find_with_tree_latch(const Probe& probe, KeydromeBuffer& payload) const;
  // Merges the leaf that the probe leads to with a neighbour, if the leaf has few pairs.
  void merge(const Probe& probe);
  // Returns true if a leaf with `pairs` pairs should be merged: at 16, 8, 4, 2, 1 and 0 pairs. If
  // its neighbours are too full, the next try comes only after half of its pairs are gone, so few
  // deletions take the tree latch.
  static bool should_merge(uint32_t pairs) {
    constexpr uint32_t kFew = 16;
    return pairs <= kFew && (pairs == 0 || std::has_single_bit(pairs));
  }

 private:
  friend class Rebuild;

  void clear(Node* node);

  const StructureMemory memory_;
  const uint32_t number_bytes_;  // 4 or 8 if each key has this size; otherwise 0
  std::atomic<Node*> root_;
  mutable TreeLatch tree_latch_;  // mutable, because find_with_tree_latch() takes it
};

}  // namespace keydrome::btree_olc
