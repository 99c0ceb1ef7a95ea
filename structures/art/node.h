// Defines the nodes of the adaptive radix tree (V. Leis et al., ICDE 2013, section III). A node of
// depth d has one child for each byte that pairs of its subtree have as digit d. All pairs of the
// subtree agree in the digits before d. A node does not store these digits (path compression). A
// leaf or page is a child of the first node after which its pairs are alone (lazy expansion). So a
// search that arrives there compares the whole key.
//
// Nodes have at least two children. Node sizes in bytes: Fork 24, Node4 48, Node16 152, Node48 648,
// Node256 2056.
//
// Threads: readers take no lock. A writer locks a node before it changes one of its slots (lock.h).
// Each change that a reader can see is one store: of a slot, or of an element of Node48::index. The
// other members do not change while readers can see the node, or only writers read them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "structures/art/link.h"
#include "structures/art/lock.h"
#include "structures/art/pair.h"

namespace keydrome::art {

// The only node that has a child for the end mark. `end` has the pairs with the end mark at the
// depth of the fork, and `rest` has the pairs with a byte there. `rest` often is a node of the same
// depth. A key that is a prefix of another key needs a fork; keys of equal size need none.
struct Fork {
  Lock lock;
  Slot end;
  Slot rest;
};

// Node4 and Node16 store the bytes in ascending order. Every unused element of `bytes` repeats the
// largest byte, so a search compares all elements, takes the first equal one, and does not read
// `count`. Bytes do not change: a new byte needs a copy of the node. A slot that lost its child is
// empty until its byte gets a child again.
template <uint32_t kSize>
struct SortedNode {
  static constexpr uint32_t kCapacity = kSize;

  Lock lock;
  uint8_t live;  // children; only writers read it, and hold the lock
  uint8_t count;
  uint8_t bytes[kSize];
  Slot children[kSize];
};
using Node4 = SortedNode<4>;
using Node16 = SortedNode<16>;

// index[byte] is the index of the byte's slot in `children` plus 1, or 0 if the byte has no slot. A
// byte keeps its slot as long as the node exists.
struct Node48 {
  static constexpr uint32_t kCapacity = 48;

  Lock lock;
  uint8_t live;   // as in SortedNode
  uint8_t count;  // slots that have a byte; only writers read it, and hold the lock
  std::atomic<uint8_t> index[256];
  Slot children[kCapacity];
};

struct Node256 {
  static constexpr uint32_t kCapacity = 256;

  Lock lock;
  uint16_t live;  // as in SortedNode
  Slot children[kCapacity];
};

static_assert(sizeof(Fork) == 24 && sizeof(Node4) == 48 && sizeof(Node16) == 152);
static_assert(sizeof(Node48) == 648 && sizeof(Node256) == 2056);

// A deletion that leaves so few children moves them to the next smaller kind. The smaller node
// then has room, so the next insertion does not undo this.
inline constexpr uint32_t kShrink16 = 3;
inline constexpr uint32_t kShrink48 = 12;
inline constexpr uint32_t kShrink256 = 36;

// The most nodes on a path: a fork and another node of each depth.
inline constexpr uint32_t kPathMax = 2 * kDigitsMax;

}  // namespace keydrome::art
