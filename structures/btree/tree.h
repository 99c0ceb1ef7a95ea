// A B+-tree over (key, payload) pairs: the entry file of this structure. Read node.h for the layout
// first.
//
// Source: R. Bayer, E. McCreight, "Organization and Maintenance of Large Ordered Indexes", 1972;
// separators cut short as in R. Bayer, K. Unterauer, "Prefix B-Trees", 1977.
//
// Thread safety: several seek, next, check and statistics at once while nobody runs put or del.
// Errors: put and del take all memory they need before they change anything, and return -1 without
// it.
#pragma once

#include <cstdint>

#include "keydrome/structure.h"
#include "structures/btree/memory.h"
#include "structures/btree/node.h"
#include "structures/btree/search.h"

namespace keydrome::btree {

class Tree {
 public:
  // nullptr when memory is exhausted. The tree itself lives in the environment's memory too.
  static Tree* create(const KeydromeEnvironment& environment);
  static void destroy(Tree* tree);

  int put(const Probe& probe);  // insert.cc
  int del(const Probe& probe);  // erase.cc

  void seek(KeydromePosition& position, const Probe& probe, bool after) const;  // cursor.cc
  int next(KeydromePosition& position, KeydromeBuffer& key, KeydromeBuffer& payload) const;

  int check() const;  // check.cc
  uint64_t pairs() const { return pairs_; }
  uint64_t bytes() const { return memory_.bytes() + sizeof(Tree); }
  uint64_t height() const;

 private:
  struct Reserve;
  struct Checker;

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
