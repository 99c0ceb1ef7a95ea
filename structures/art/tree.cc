// Implements tree.h: makes and destroys trees, and computes their statistics.
#include "structures/art/tree.h"

#include <algorithm>
#include <new>

#include "structures/art/search.h"

namespace keydrome::art {

namespace {

struct Shape {
  uint64_t nodes = 0;
  uint64_t slots = 0;
  uint64_t slots_used = 0;
  uint64_t height = 0;

  // Adds a subtree. The recursion is at most kPathMax levels deep.
  void add(Link link, uint64_t level) {
    if (!link.is_node()) return;
    ++nodes;
    height = std::max(height, level);
    slots += capacity(link.kind());
    uint32_t position = 0;
    for (Link child; !(child = next_child(link, position)).is_none(); ++slots_used) {
      add(child, level + 1);
    }
  }

  static uint32_t capacity(Kind kind) {
    switch (kind) {
      case Kind::kFork:
        return 2;
      case Kind::kNode4:
        return Node4::kCapacity;
      case Kind::kNode16:
        return Node16::kCapacity;
      case Kind::kNode48:
        return Node48::kCapacity;
      default:
        return Node256::kCapacity;
    }
  }
};

Shape shape_of(Link root) {
  Shape shape;
  shape.add(root, 1);
  return shape;
}

}  // namespace

Tree* Tree::create(const KeydromeEnvironment& environment) {
  void* place = environment.allocate(environment.context, sizeof(Tree), alignof(Tree));
  return place == nullptr ? nullptr : new (place) Tree(Memory(environment));
}

void Tree::destroy(Tree* tree) {
  const KeydromeEnvironment environment = tree->memory_.environment();
  drop_subtree(tree->memory_, tree->root_.load());
  tree->~Tree();
  environment.retire(environment.context, tree, sizeof(Tree), alignof(Tree));
}

uint64_t Tree::nodes() const { return shape_of(root()).nodes; }
uint64_t Tree::slots() const { return shape_of(root()).slots; }
uint64_t Tree::slots_used() const { return shape_of(root()).slots_used; }
uint64_t Tree::height() const { return shape_of(root()).height; }

}  // namespace keydrome::art
