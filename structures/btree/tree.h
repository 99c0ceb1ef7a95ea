// Tree: a B+-tree over (key, payload) pairs. Read node.h first, which describes the nodes.
//
// Source: R. Bayer, E. McCreight, "Organization and Maintenance of Large Ordered Indexes", 1972;
// short separators as in R. Bayer, K. Unterauer, "Prefix B-Trees", 1977.
//
// Thread safety: several threads may call scan, find, check and the statistics at the same time, as
// long as no thread calls put or del. Errors: put and del allocate all memory before they change
// anything. They return -1 if an allocation fails.
#pragma once

#include <cstdint>

#include "keydrome/structure.h"
#include "structures/btree/memory.h"
#include "structures/btree/node.h"
#include "structures/btree/search.h"

namespace keydrome::btree {

class Tree {
 public:
  // Makes an empty tree. The memory of the Tree object also comes from the environment. Returns
  // nullptr if out of memory.
  static Tree* create(const KeydromeEnvironment& environment);
  static void destroy(Tree* tree);

  // put returns 0 if the tree contains the pair already, and del returns 0 if the pair is missing.
  // Otherwise both return 1, or -1 if out of memory.
  int put(const Probe& probe);  // insert.cc
  int del(const Probe& probe);  // erase.cc

  // Fills the run with the first pairs >= the probe, or > the probe if `after` is true. Returns 1 if
  // more pairs may follow, and 0 otherwise.
  int scan(const Probe& probe, bool after, KeydromeRun& run) const;  // read.cc
  // Copies the first payload of the probe's key that is >= the probe's payload, or > if `after` is
  // true. Returns 1, or 0 if there is none.
  int find(const Probe& probe, bool after, KeydromeBuffer& payload) const;

  // Returns 0, or the number of the first invariant of the tree that does not hold.
  int check() const;  // check.cc
  uint64_t pairs() const { return pairs_; }
  uint64_t bytes() const { return memory_.bytes() + sizeof(Tree); }
  uint64_t height() const;
  Node* root() { return root_; }  // for tests

 private:
  struct Reserve;
  struct Checker;
  struct Place;

  Place seek(const Probe& probe, bool after) const;

  Tree(const Memory& memory, Leaf* root) : memory_(memory), root_(root) {}

  int split_and_insert(const Path& path, Leaf* leaf, uint32_t slot, Reserve& reserve);
  void insert_child(const Path& path, Entry* separator, Node* right, Reserve& reserve);

  int erase_and_refill(const Path& path, Leaf* leaf, uint32_t slot);
  void remove_child(const Path& path, uint32_t level, uint32_t separator);
  void refill_inner(const Path& path, uint32_t level);

  void drop_subtree(Node* node);

  Memory memory_;
  Node* root_;
  uint64_t pairs_ = 0;
};

}  // namespace keydrome::btree
