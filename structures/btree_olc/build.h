// Lists of the contents of nodes, and functions that make nodes from such lists.
#pragma once

#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/btree_olc/node.h"
#include "structures/btree_olc/pair.h"

namespace keydrome::btree_olc {

// The pairs of up to two leaves, and one more. Their bytes belong to the leaves, or to this list.
struct Pairs {
  static constexpr uint32_t kMost = 2 * kSlots + 1;

  Pair all[kMost];
  uint32_t count = 0;

  void add_all(const Node& leaf);
  // The bytes of the pair must live as long as the list.
  void insert(uint32_t at, const Pair& pair);
  void erase(uint32_t at);

 private:
  static constexpr uint32_t kNumberBytes = 16;

  uint8_t numbers_[kMost * kNumberBytes];
};

// The children of up to two inner nodes, and one more. The separator of a child is to its left; that
// of the first child has no meaning.
struct Children {
  static constexpr uint32_t kMost = 2 * Inner::kChildren + 1;

  Pair separators[kMost];
  Node* nodes[kMost];
  uint32_t count = 0;

  // `separator` is to the left of the node's first child.
  void add_all(const Inner& node, const Pair& separator);
  void insert(uint32_t at, const Pair& separator, Node* child);
  void erase(uint32_t at);
};

struct Fences {
  Fence low;
  Fence high;
};

// The number of pairs that one leaf may hold, and the size of records in it.
uint32_t record_bytes(const Pairs& pairs, uint32_t from, uint32_t to);

// Makes a leaf of the pairs [from, to). `key_size`: 4 or 8 if all keys have this size, so that heads
// contain whole keys. These functions return nullptr if out of memory.
Node* build_leaf(const StructureMemory& memory, uint32_t key_size, const Pairs& pairs,
                 uint32_t from, uint32_t to, const Fences& fences);
Node* build_inner(const StructureMemory& memory, uint32_t key_size, uint32_t level,
                  const Children& children, uint32_t from, uint32_t to, const Fences& fences);
void drop(const StructureMemory& memory, Node* node);

}  // namespace keydrome::btree_olc
