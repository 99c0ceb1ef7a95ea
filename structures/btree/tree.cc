// Implements tree.h: makes and destroys B+-trees, and computes their height.
#include "structures/btree/tree.h"

#include <new>

namespace keydrome::btree {

Tree* Tree::create(const KeydromeEnvironment& environment) {
  void* place = environment.allocate(environment.context, sizeof(Tree), alignof(Tree));
  if (place == nullptr) return nullptr;
  Memory memory(environment);
  Leaf* root = memory.make_node<Leaf>();
  if (root == nullptr) {
    environment.retire(environment.context, place, sizeof(Tree), alignof(Tree));
    return nullptr;
  }
  return new (place) Tree(memory, root);
}

void Tree::destroy(Tree* tree) {
  const KeydromeEnvironment environment = tree->memory_.environment();
  tree->drop_subtree(tree->root_);
  tree->~Tree();
  environment.retire(environment.context, tree, sizeof(Tree), alignof(Tree));
}

uint64_t Tree::height() const {
  uint64_t height = 1;
  for (const Node* node = root_; !node->is_leaf; node = as_inner(node)->children[0]) ++height;
  return height;
}

// Frees a subtree. The recursion is at most kHeightMax levels deep.
void Tree::drop_subtree(Node* node) {
  if (node->is_leaf) {
    Leaf* leaf = as_leaf(node);
    for (uint32_t i = 0; i < leaf->count; ++i) memory_.drop_entry(leaf->entries[i]);
    memory_.drop_node(leaf);
    return;
  }
  Inner* inner = as_inner(node);
  for (uint32_t i = 0; i <= inner->count; ++i) drop_subtree(inner->children[i]);
  for (uint32_t i = 0; i < inner->count; ++i) memory_.drop_entry(inner->separators[i]);
  memory_.drop_node(inner);
}

}  // namespace keydrome::btree
