// Tree: an adaptive radix tree over (key, payload) pairs. Read pair.h, link.h and node.h first.
//
// Source: V. Leis, A. Kemper, T. Neumann, "The Adaptive Radix Tree: ARTful Indexing for Main-Memory
// Databases", ICDE 2013. Section III.E calls the path compression of this tree optimistic: searches
// skip digits that a subtree has in common, and compare them in the leaf.
//
// Thread safety: several threads may call the const functions at the same time, as long as no
// thread calls put, del or replace. Errors: put and replace allocate all memory before they change
// anything, and return KEYDROME_NO_MEMORY if an allocation fails.
#pragma once

#include <cstdint>

#include "keydrome/structure.h"
#include "structures/art/memory.h"
#include "structures/art/node.h"

namespace keydrome::art {

class Tree {
 public:
  // Makes an empty tree. The memory of the Tree object also comes from the environment. Returns
  // nullptr if out of memory.
  static Tree* create(const KeydromeEnvironment& environment);
  static void destroy(Tree* tree);

  // The results of the following functions are those of contract B.
  int put(const Pair& pair);                                         // insert.cc
  int del(const Pair& pair);                                         // erase.cc
  int replace(const Pair& before, const Pair& now);                  // replace.cc
  int scan(const Pair& from, bool after, KeydromeRun& run) const;    // scan.cc
  int find(KeydromeBytes key, KeydromeBuffer& payload) const;        // find.cc
  int find_after(const Pair& after, KeydromeBuffer& payload) const;  // scan.cc
  void find_batch(uint32_t count, KeydromeLookup* lookups) const;    // find.cc

  // Returns 0, or the number of the first invariant of the tree that does not hold.
  int check() const;  // check.cc
  // For tests. Empty if the tree is empty.
  Link root() const { return root_; }

  uint64_t nodes() const;
  uint64_t slots() const;
  uint64_t slots_used() const;
  // Visits all nodes.
  uint64_t height() const { return height_of(root_); }

 private:
  explicit Tree(const Memory& memory) : memory_(memory) {}

  int put_below(Link* place, const Pair& pair, Link leaf);
  int branch(Link* place, uint32_t depth, const Pair& pair, Link leaf, int other);
  void remove_leaf(Link* parent, int digit);
  void drop_subtree(Link link);
  static uint64_t height_of(Link link);

  Memory memory_;
  Link root_{};
};

}  // namespace keydrome::art
