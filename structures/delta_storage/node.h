// Node: a node of the index, a B+-tree that contains ids of pairs (dictionary.h) and no keys.
//
// The ids of a leaf are in the order of their pairs. Id i of an inner node is a *separator*: all
// pairs below child i are smaller than its pair, and those below child i + 1 are not. Separators
// are pairs that were once the first of a leaf. They stay in the dictionary, even if they have been
// deleted from the leaf.
//
// The sizes are those of the paper that tree.h cites (section 5.1.1): an inner node with 31 ids
// fills six cache lines, and a leaf three.
//
// Thread safety: plain values, which do not synchronise threads.
#pragma once

#include <cstdint>

#include "structures/delta_storage/dictionary.h"

namespace keydrome::delta_storage {

inline constexpr uint32_t kLine = 64;

struct Node {
  uint16_t count;  // ids
  uint16_t level;  // 0: leaf
};

struct alignas(kLine) Leaf : Node {
  static constexpr uint32_t kIds = 45;

  Id ids[kIds];
  Leaf* next;  // the leaf with the next larger pairs, or nullptr
};
static_assert(sizeof(Leaf) == 3 * size_t{kLine});

struct alignas(kLine) Inner : Node {
  static constexpr uint32_t kIds = 31;

  Id ids[kIds];
  Node* children[kIds + 1];
};
static_assert(sizeof(Inner) == 6 * size_t{kLine});

}  // namespace keydrome::delta_storage
