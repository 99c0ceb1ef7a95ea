// Pairs, Children: the contents of nodes as lists. build_leaf(), build_inner(): make nodes (node.h)
// from such lists.
#pragma once

#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/btree_olc/node.h"
#include "structures/btree_olc/pair.h"

namespace keydrome::btree_olc {

// The pairs of up to two leaves, and one more pair. The bytes of the pairs stay in the leaves. Only
// pairs of number leaves (keys of 4 or 8 bytes, node.h) are copied, to numbers_.
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

// The children of up to two inner nodes, and one more child. separators[i] is to the left of
// nodes[i]; separators[0] has no meaning.
struct Children {
  static constexpr uint32_t kMost = 2 * Inner::kChildren + 1;

  Pair separators[kMost];
  Node* nodes[kMost];
  uint32_t count = 0;

  // `separator` is the one to the left of the node's first child.
  void add_all(const Inner& node, const Pair& separator);
  void insert(uint32_t at, const Pair& separator, Node* child);
  void erase(uint32_t at);
};

// The bounds of the pairs of a node (node.h).
struct Fences {
  Fence low;
  Fence high;
};

// Returns how many bytes the pairs [from, to) need as records of a text leaf.
uint32_t record_bytes(const Pairs& pairs, uint32_t from, uint32_t to);

// Make a node of the pairs or children [from, to). `key_size` is 4 or 8 if all keys have this size,
// so that heads contain whole keys; otherwise it is 0. Return nullptr if out of memory.
Node* build_leaf(const StructureMemory& memory, uint32_t key_size, const Pairs& pairs,
                 uint32_t from, uint32_t to, const Fences& fences);
Node* build_inner(const StructureMemory& memory, uint32_t key_size, uint32_t level,
                  const Children& children, uint32_t from, uint32_t to, const Fences& fences);
void drop(const StructureMemory& memory, Node* node);

}  // namespace keydrome::btree_olc
