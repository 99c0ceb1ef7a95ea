// Drops the nodes and records of the prefix tree.
#include "structures/prefix_tree/tree.h"

namespace keydrome::prefix_tree {

// The recursion is at most kSymbolsMax calls deep, because depths grow from a node to its children.
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
