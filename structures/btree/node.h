// Node layout of the B+-tree.
//
// Leaves hold the entries and form a doubly linked list; inner nodes hold separators. A separator
// is an entry of its own: larger than everything in the child on its left, at most the smallest
// pair in the child on its right, and cut as short as that allows (separator.h).
//
// Fill: every node but the root holds at least kFillMin slots. A split in the middle leaves half; a
// split at the right edge leaves the left node nearly full, so that ascending inserts build a dense
// tree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "structures/btree/entry.h"

namespace keydrome::btree {

inline constexpr uint32_t kSlots = 64;  // entries of a leaf, separators of an inner node
inline constexpr uint32_t kFillMin =
    8;  // fewer, and the node is merged with a sibling or refilled from it
inline constexpr uint32_t kMergeMax =
    48;  // a merge must leave room, or the next insert would split again
inline constexpr uint32_t kAppendKeep =
    56;  // what the left node keeps when the split is at the right edge
inline constexpr uint32_t kHeightMax = 24;  // 9^24 pairs do not fit into any address space
inline constexpr size_t kNodeAlignment = 64;
static_assert(kSlots + 1 - kAppendKeep > kFillMin && kFillMin * 2 <= kMergeMax);

struct Node {
  uint32_t count = 0;
  bool is_leaf;

  explicit Node(bool leaf) : is_leaf(leaf) {}
};

struct Leaf : Node {
  Leaf* previous = nullptr;
  Leaf* next = nullptr;
  uint64_t heads[kSlots];
  Entry* entries[kSlots];

  Leaf() : Node(true) {}
};

struct Inner : Node {
  uint64_t heads[kSlots];
  Entry* separators[kSlots];
  Node* children[kSlots + 1];  // count + 1 of them

  Inner() : Node(false) {}
};

inline Leaf* as_leaf(Node* node) { return static_cast<Leaf*>(node); }
inline const Leaf* as_leaf(const Node* node) { return static_cast<const Leaf*>(node); }
inline Inner* as_inner(Node* node) { return static_cast<Inner*>(node); }
inline const Inner* as_inner(const Node* node) { return static_cast<const Inner*>(node); }

}  // namespace keydrome::btree
