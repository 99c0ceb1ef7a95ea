// Position: a leaf that a search has found, and its parent, which leads to the next leaf.
#pragma once

#include <cstdint>

#include "structures/btree_olc/node.h"

namespace keydrome::btree_olc {

struct Position {
  Node* leaf;
  Fence high;           // the upper bound of the leaf
  const Inner* parent;  // parent of the leaf; nullptr if the leaf is the root
  uint32_t at;          // index of the leaf in the parent
  Fence parent_high;

  // Prefetches a later leaf of the same parent.
  void ask_ahead(uint32_t leaves) const {
    if (parent == nullptr || at + leaves > parent->count) return;
    ask_lines(parent->child(at + leaves), 0, sizeof(NumberLeaf) / kLine);
  }
  // Moves to the next child of the parent. Returns false if there is none. The parent may have been
  // replaced meanwhile. The child is then obsolete, or it is still the leaf with the pairs of its
  // range. The caller checks the version of the child, which shows whether it is obsolete.
  bool move_right() {
    if (parent == nullptr || at == parent->count) return false;
    ++at;
    leaf = parent->child(at);
    high = at < parent->count ? Fence{parent->separator(at), true} : parent_high;
    return true;
  }
};

}  // namespace keydrome::btree_olc
