// Implements Tree::drop_subtree(), which frees the nodes and records of a subtree.
#include "structures/prefix_tree/tree.h"

namespace keydrome::prefix_tree {

// The recursion is at most kSymbolsMax calls deep, because a child has a larger depth than its
// node.
void Tree::drop_subtree(Slot slot) {
  if (slot.is_empty()) return;
  if (slot.is_record()) {
    memory_.drop(slot.record());
    return;
  }
  Node* node = slot.node();
  for (uint32_t i = 0; i < node->count; ++i) drop_subtree(node->children()[i]);
  memory_.drop(node);
}

}  // namespace keydrome::prefix_tree
