// Defines the nodes of the B+-tree, and how many slots a node may use. A slot contains the pointer
// to one entry (a pair of key and payload) and the entry's head, the first eight key bytes
// (entry.h).
//
// Leaves contain the stored entries and form a doubly linked list. Inner nodes contain separators
// and pointers to children. A separator is an additional entry between two children. It is larger
// than every entry in the left child, and not larger than any entry in the right child. It is as
// short as possible (separator.h).
//
// Every node except the root uses at least kFillMin slots. A split in the middle leaves two
// half-full nodes. A split at the right edge of the tree leaves the left node nearly full, so that
// ascending inserts build a dense tree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "structures/btree/entry.h"

namespace keydrome::btree {

// The largest number of entries in a leaf, and of separators in an inner node.
inline constexpr uint32_t kSlots = 64;
// A node other than the root that would use fewer slots is merged with a sibling, or receives slots
// from the sibling.
inline constexpr uint32_t kFillMin = 8;
// Such a node is merged with its sibling if both together use at most this many slots. The merged
// node has free slots, so the next insertion does not split it again.
inline constexpr uint32_t kMergeMax = 48;
// Number of slots that the left node keeps after a split at the right edge of the tree.
inline constexpr uint32_t kAppendKeep = 56;
// The largest height. The root has at least 2 children, and every other inner node has at least
// kFillMin + 1 = 9. A tree of this height has at least 2 * 9^22 leaves, more than any address space
// holds.
inline constexpr uint32_t kHeightMax = 24;
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
  Node* children[kSlots + 1];  // count + 1 children are in use

  Inner() : Node(false) {}
};

inline Leaf* as_leaf(Node* node) { return static_cast<Leaf*>(node); }
inline const Leaf* as_leaf(const Node* node) { return static_cast<const Leaf*>(node); }
inline Inner* as_inner(Node* node) { return static_cast<Inner*>(node); }
inline const Inner* as_inner(const Node* node) { return static_cast<const Inner*>(node); }

}  // namespace keydrome::btree
