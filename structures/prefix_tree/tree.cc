// Makes and destroys the prefix tree.
#include "structures/prefix_tree/tree.h"

#include <new>

namespace keydrome::prefix_tree {

Tree* Tree::create(const KeydromeEnvironment& environment) {
  void* memory = Memory(environment).allocate(sizeof(Tree), alignof(Tree));
  return memory == nullptr ? nullptr : new (memory) Tree(environment, Slot());
}

void Tree::destroy(Tree* tree) {
  tree->drop_subtree(tree->root_);
  const Memory memory = tree->memory_;
  memory.retire(tree, sizeof(Tree), alignof(Tree));
}

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
