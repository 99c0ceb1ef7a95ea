// Makes leaves, pages and nodes from lists of what they shall contain. Nothing of it can be seen by
// other threads until its link is stored in a slot.
#pragma once

#include <cstdint>

#include "structures/art/link.h"
#include "structures/art/memory.h"
#include "structures/art/pair.h"

namespace keydrome::art {

// The functions make_... return an empty link if out of memory.

Link make_leaf(const Memory& memory, const Pair& pair);

// Pairs in ascending order, one more than a page can hold.
struct PairList {
  uint32_t count = 0;
  Pair pairs[kPagePairs + 1];  // not initialised

  void add(const Pair& pair) { pairs[count++] = pair; }
  // Adds the pairs from `from` up to, but not including `to`, that are in the mask `live`.
  void add_live(Link link, uint32_t live, uint32_t from, uint32_t to);
};

// Makes a page of 2 to kPagePairs pairs, or a leaf of one pair.
Link make_pairs(const Memory& memory, const Pair* pairs, uint32_t count);

// A page of more bytes is divided by the next insertion. Copies of large pages would make
// insertions slow.
inline constexpr uint32_t kPageBytes = 768;

// Makes a page with all pairs of a page or leaf and another pair at `index`, where it belongs. No
// pair is dead.
Link make_page_with(const Memory& memory, Link old, uint32_t index, const Pair& pair);

// Makes the smallest subtree whose node divides the pairs. There are at least two.
Link make_subtree(const Memory& memory, const PairList& list);

// The children of a node, except a fork, by their bytes.
struct Children {
  uint32_t count = 0;
  uint8_t bytes[256];  // ascending
  Link links[256];

  void add(uint8_t byte, Link link) {
    bytes[count] = byte;
    links[count++] = link;
  }
};

// Collects the children of a node that the caller has locked.
void collect_children(Link node, Children& children);
// Inserts a child for a byte that has none.
void insert_child(Children& children, uint8_t byte, Link link);
void remove_child(Children& children, uint8_t byte);
// Makes the smallest node that can hold the children, of which there are at least two.
Link make_node_of(const Memory& memory, uint32_t depth, const Children& children);

// Frees all leaves, pages and nodes of a subtree.
void drop_subtree(const Memory& memory, Link link);

}  // namespace keydrome::art
