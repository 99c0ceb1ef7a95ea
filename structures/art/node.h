// Defines the nodes of the adaptive radix tree (V. Leis et al., ICDE 2013, section III). The
// *digits* of a pair are the bytes of its key, an end mark, the bytes of its payload, and another
// end mark (pair.h). A node of depth d has one child for each byte that occurs as digit number d of
// the pairs in its subtree. All pairs of the subtree have the same digits before d. The node does
// not store these digits (path compression). No node is made for a digit that does not divide the
// pairs, so one pair or a few pairs form a leaf or page (lazy expansion). A search that arrives at
// a leaf or page must therefore compare the whole key.
//
// Nodes have at least two children. Node sizes in bytes: Fork 24, Node4 48, Node16 152, Node48 648,
// Node256 2056.
//
// Threads: readers take no lock. A writer locks a node before it changes one of its slots (lock.h).
// Each change that a reader can see is one store: of a slot, or of an element of Node48::index. The
// other members do not change while readers can see the node, or are read only by writers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "structures/art/link.h"
#include "structures/art/lock.h"
#include "structures/art/pair.h"

namespace keydrome::art {

// The only kind of node with a child for the end mark. `end` leads to the pairs that have the end
// mark at the depth of the fork, and `rest` to the pairs that have a byte there. Often `rest` is a
// node of the same depth. A fork is needed only if a key is a prefix of another key.
struct Fork {
  Lock lock;
  Slot end;
  Slot rest;
};

// Node4 and Node16 store the bytes in ascending order. Each unused element of `bytes` repeats the
// largest byte. So a search compares all elements and takes the first equal one, without reading
// `count`. The bytes never change: to add a byte, a writer makes a copy of the node. If a child is
// deleted, its slot stays empty until a child with the same byte is inserted.
template <uint32_t kSize>
struct SortedNode {
  static constexpr uint32_t kCapacity = kSize;

  Lock lock;
  uint8_t live;  // number of children; only for writers, which hold the lock
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
  uint8_t count;  // number of slots that have a byte; only for writers, which hold the lock
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

// A deletion that leaves at most this many children replaces the node by the next smaller kind. The
// smaller node has room for at least one more child, so the next insertion does not undo this.
inline constexpr uint32_t kShrink16 = 3;
inline constexpr uint32_t kShrink48 = 12;
inline constexpr uint32_t kShrink256 = 36;

// The largest number of nodes on a path: for each depth, a fork and another node.
inline constexpr uint32_t kPathMax = 2 * kDigitsMax;

}  // namespace keydrome::art
