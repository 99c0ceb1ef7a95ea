// Tree: a B+-tree over pairs that all threads may use at the same time. Read node.h first.
//
// Sources: V. Leis, M. Haubenschild, T. Neumann, "Optimistic Lock Coupling: A Scalable and Efficient
// General-Purpose Synchronization Method", IEEE Data Engineering Bulletin 2019; V. Leis, F.
// Scheibner, A. Kemper, T. Neumann, "The ART of Practical Synchronization", DaMoN 2016; R. Bayer, M.
// Schkolnick, "Concurrency of Operations on B-Trees", Acta Informatica 1977.
//
// Thread safety: all functions but check, clear and load may run at the same time.
//
// - A search goes down without checks. Inner nodes do not change, and a child always has the pairs
//   between its separators. So a search that meets a replaced inner node ends in the right leaf, or
//   in an obsolete one, and then begins again.
// - A change of one leaf latches only this leaf.
// - To replace nodes, a thread takes the tree latch, finds the path again, and latches the leaves
//   that it replaces. It makes all new nodes, and then stores one pointer, which makes them visible.
//   The old leaves stay latched until they are obsolete (rebuild.h).
// - The runtime frees retired nodes only after all calls that could read them have ended.
#pragma once

#include <atomic>
#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/btree_olc/leaf.h"
#include "structures/btree_olc/node.h"
#include "structures/btree_olc/pair.h"
#include "structures/btree_olc/version.h"

namespace keydrome::btree_olc {

// The largest height. A root has more than 50 children when it is divided, so a tree of this height
// has more pairs than any address space.
inline constexpr uint32_t kLevels = 20;

class Tree {
 public:
  // Throws std::bad_alloc if out of memory.
  Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  // These functions are those of keydrome/structure_class.h.
  int put(KeydromeBytes key, KeydromeBytes payload) noexcept;                        // change.cc
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept;                        // change.cc
  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) noexcept;  // change.cc
  int find(KeydromeBytes key, KeydromeBytes after,
           KeydromeBuffer& payload) const noexcept;                         // read.cc
  void find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept;  // read.cc
  int scan(KeydromeBytes key, KeydromeBytes payload, bool after, KeydromeRun& run) const noexcept;
  int load(const KeydromeRun& run) noexcept;
  int check() const;  // check.cc
  uint64_t statistic(uint32_t which) const;

 private:
  friend class Rebuild;

  // A leaf, and what is to its right.
  struct Position {
    Node* leaf;
    Fence high;           // of the leaf
    const Inner* parent;  // of the leaf, or nullptr
    uint32_t at;          // index of the leaf in the parent
    Fence parent_high;
  };

  Node* root() const { return root_.load(std::memory_order_acquire); }
  Node* leaf_of(const Probe& probe) const {
    Node* node = root();
    for (uint32_t level = node->level; level > 0; --level) {
      const Inner& here = inner(*node);
      node = here.child(child_index(here, probe));
      ask_to_search(node);
    }
    return node;
  }
  Position position_of(const Probe& probe) const;
  bool move_right(Position& position) const;
  int find_from(const Probe& probe, KeydromeBuffer& payload) const;
  int find_with_latches(const Probe& probe, KeydromeBuffer& payload) const;
  Node& latched_leaf_of(const Probe& probe) const;
  int put_with_tree_latch(const Pair& pair);
  void merge(const Probe& probe);
  int replace_in(Node& leaf, const Pair& before, const Pair& now);
  int replace_with_tree_latch(const Pair& before, const Pair& now);
  void clear(Node* node);

  const StructureMemory memory_;
  const uint32_t number_bytes_;  // size of all keys, if it is 4 or 8; otherwise 0
  std::atomic<Node*> root_;
  mutable TreeLatch tree_latch_;  // for find_with_latches, too
};

}  // namespace keydrome::btree_olc
