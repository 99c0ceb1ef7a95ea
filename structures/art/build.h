// Makes leaves (one pair), pages and word pages (2 to 32 pairs) and nodes of the adaptive radix
// tree, from lists of pairs or of children. Other threads cannot see a new node until a slot of the
// tree contains a link to it.
#pragma once

#include <cstdint>

#include "structures/art/link.h"
#include "structures/art/memory.h"
#include "structures/art/pair.h"

namespace keydrome::art {

// The functions make_... return an empty link if out of memory.

Link make_leaf(const Memory& memory, const Pair& pair);

// Pairs in ascending order: at most one more than a page can hold.
struct PairList {
  uint32_t count = 0;
  Pair pairs[kPagePairs + 1];  // not initialised

  // Appends those pairs of a leaf or page whose bit is set in `live` (live_of() in pairs.h). They
  // must be larger than the pairs of the list. If `link` is a word page, the caller has locked the
  // page itself, and otherwise the owner of the page or leaf.
  void append(Link link, uint32_t live);
  // Inserts a pair at its place. Returns false if the list already has it.
  bool insert(const Pair& pair);
  // Returns true if one page can take all pairs, without being larger than kPageBytes.
  bool fits_page() const;
};

// Makes a page or word page of 2 to kPagePairs pairs, or a leaf of one pair.
Link make_pairs(const Memory& memory, const Pair* pairs, uint32_t count);

// If a page would exceed this size, the insertion divides it. Larger pages would make insertions
// slow, because each insertion copies a page.
inline constexpr uint32_t kPageBytes = 768;

// Makes a page with all pairs of a page, and with `pair` at `index`, the pair's position in the
// order. No pair of the old page may be dead (deleted). It must not be a word page.
Link make_page_with(const Memory& memory, Link old, uint32_t index, const Pair& pair);

// Makes a larger word page with another pair, from a word leaf (pairs.h) or from a word page with
// at most kPagePairs - 1 live pairs.
Link make_words_with(const Memory& memory, Link old, const Pair& pair);

// Makes a node for the first digit (pair.h) in which the pairs differ, with a leaf or page for each
// value of this digit. The list must have at least two pairs.
Link make_subtree(const Memory& memory, const PairList& list);

// The children of a node that is not a fork (node.h), sorted by the bytes that select them.
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
// Makes the smallest node that can hold the children. There must be at least two.
Link make_node_of(const Memory& memory, uint32_t depth, const Children& children);

// Frees all leaves, pages and nodes of a subtree.
void drop_subtree(const Memory& memory, Link link);

}  // namespace keydrome::art
