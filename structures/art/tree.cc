// Implements tree.h: makes and destroys trees, and computes their statistics.
#include "structures/art/tree.h"

#include <algorithm>
#include <new>

#include "structures/art/search.h"

namespace keydrome::art {

Tree* Tree::create(const KeydromeEnvironment& environment) {
  void* place = environment.allocate(environment.context, sizeof(Tree), alignof(Tree));
  return place == nullptr ? nullptr : new (place) Tree(Memory(environment));
}

void Tree::destroy(Tree* tree) {
  const KeydromeEnvironment environment = tree->memory_.environment();
  tree->drop_subtree(tree->root_);
  tree->~Tree();
  environment.retire(environment.context, tree, sizeof(Tree), alignof(Tree));
}

// Frees a subtree. The recursion is at most kPathMax levels deep.
void Tree::drop_subtree(Link link) {
  if (link.is_none()) return;
  if (link.is_node()) {
    uint32_t position = 0;
    for (Link child; !(child = next_child(link, position)).is_none();) drop_subtree(child);
  }
  memory_.drop(link);
}

uint64_t Tree::nodes() const {
  return memory_.count(Kind::kFork) + memory_.count(Kind::kNode4) + memory_.count(Kind::kNode16) +
         memory_.count(Kind::kNode48) + memory_.count(Kind::kNode256);
}

uint64_t Tree::slots() const {
  return 2 * memory_.count(Kind::kFork) + Node4::kCapacity * memory_.count(Kind::kNode4) +
         Node16::kCapacity * memory_.count(Kind::kNode16) +
         Node48::kCapacity * memory_.count(Kind::kNode48) +
         Node256::kCapacity * memory_.count(Kind::kNode256);
}

// Every node and leaf except the root is in a slot of a node.
uint64_t Tree::slots_used() const {
  const uint64_t links = nodes() + memory_.count(Kind::kLeaf);
  return links == 0 ? 0 : links - 1;
}

// The recursion is at most kPathMax levels deep.
uint64_t Tree::height_of(Link link) {
  if (!link.is_node()) return 0;
  uint64_t highest = 0;
  uint32_t position = 0;
  for (Link child; !(child = next_child(link, position)).is_none();) {
    highest = std::max(highest, height_of(child));
  }
  return highest + 1;
}

}  // namespace keydrome::art
