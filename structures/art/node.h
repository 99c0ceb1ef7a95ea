// Defines the nodes of the adaptive radix tree (V. Leis et al., ICDE 2013, section III). A node of
// depth d has one child for each byte that pairs of its subtree have as digit d. All pairs of the
// subtree agree in the digits before d. A node does not store these digits (path compression). A
// leaf is a child of the first node after which it is alone (lazy expansion). So a search that
// arrives at a leaf compares the whole key.
//
// Nodes have at least two children. Node sizes in bytes: Fork 16, Node4 40, Node16 152, Node48 648,
// Node256 2056.
#pragma once

#include <cstddef>
#include <cstdint>

#include "structures/art/link.h"

namespace keydrome::art {

// The only node that has a child for the end mark. `end` has the pairs with the end mark at the
// depth of the fork, and `rest` has the pairs with a byte there. `rest` often is a node of the same
// depth. A key that is a prefix of another key needs a fork; keys of equal size need none.
struct Fork {
  Link end;
  Link rest;
};

// Node4 and Node16 store the bytes in ascending order. Every unused element of `bytes` repeats the
// largest byte, so a search compares all elements, takes the first equal one, and does not read
// `count`.
template <uint32_t kSize>
struct SortedNode {
  static constexpr uint32_t kCapacity = kSize;

  uint8_t count;
  uint8_t bytes[kSize];
  Link children[kSize];
};
using Node4 = SortedNode<4>;
using Node16 = SortedNode<16>;

// slots[byte] is the index of the child in `children` plus 1, or 0 if there is no child. A deletion
// leaves an empty link in `children`, and an insertion fills it.
struct Node48 {
  static constexpr uint32_t kCapacity = 48;

  uint8_t count;
  uint8_t slots[256];
  Link children[kCapacity];
};

struct Node256 {
  static constexpr uint32_t kCapacity = 256;

  uint16_t count;
  Link children[kCapacity];
};

static_assert(sizeof(Node4) == 40 && sizeof(Node16) == 152 && sizeof(Node256) == 2056);

// A deletion that leaves so few children moves them to the next smaller kind. The smaller node
// then has room, so the next insertion does not undo this.
inline constexpr uint32_t kShrink16 = 3;
inline constexpr uint32_t kShrink48 = 12;
inline constexpr uint32_t kShrink256 = 36;

// The most nodes on a path: a fork and another node of each depth.
inline constexpr uint32_t kPathMax = 2 * kDigitsMax;

}  // namespace keydrome::art
