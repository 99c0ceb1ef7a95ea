// Implements put() of Tree (tree.h): adds a pair to the dictionary, adds the id of the pair (its
// number in the dictionary) to a leaf, and splits full nodes.
#include <algorithm>

#include "structures/delta_storage/tree.h"

namespace keydrome::delta_storage {
namespace {

template <class Item>
void insert_at(Item* items, uint32_t count, uint32_t index, Item item) {
  std::copy_backward(items + index, items + count, items + count + 1);
  items[index] = item;
}

}  // namespace

struct Tree::Spare {
  Leaf* leaf = nullptr;
  uint32_t count = 0;
  std::array<Inner*, kLevelsMax> inners;  // for level 1 and the levels above it
};

// Allocates the nodes that an insertion at the end of the path needs. Returns false if out of
// memory.
bool Tree::reserve(const Path& path, Spare& spare) const {
  if (path.leaf->count < Leaf::kIds) return true;
  spare.leaf = make_node<Leaf>(0);
  bool has_all = spare.leaf != nullptr;
  const auto is_full = [&](uint32_t level) {
    return level == path.depth || path.nodes[path.depth - 1 - level]->count == Inner::kIds;
  };
  for (uint32_t level = 0; has_all && level <= path.depth && is_full(level); ++level) {
    Inner* inner = make_node<Inner>(level + 1);
    has_all = inner != nullptr;
    if (has_all) spare.inners[spare.count++] = inner;
  }
  if (has_all) return true;
  while (spare.count > 0) drop(spare.inners[--spare.count]);
  if (spare.leaf != nullptr) drop(spare.leaf);
  return false;
}

// Adds a new child to the parent of the path's node at `depth`, to the right of this node.
void Tree::add_child(const Path& path, uint32_t depth, Id separator, Node* right, Spare& spare) {
  if (depth == 0) {  // the root has been split
    Inner& root = *spare.inners[root_->level];
    root.ids[0] = separator;
    root.children[0] = root_;
    root.children[1] = right;
    root.count = 1;
    root_ = &root;
    return;
  }
  Inner* inner = path.nodes[depth - 1];
  uint32_t child = path.children[depth - 1];
  if (inner->count == Inner::kIds) {
    constexpr uint32_t kLeft = Inner::kIds / 2;  // ids that stay; the next id moves up
    Inner& half = *spare.inners[inner->level - 1u];
    half.count = static_cast<uint16_t>(Inner::kIds - kLeft - 1);
    std::copy_n(inner->ids + kLeft + 1, half.count, half.ids);
    std::copy_n(inner->children + kLeft + 1, half.count + 1, half.children);
    inner->count = static_cast<uint16_t>(kLeft);
    add_child(path, depth - 1, inner->ids[kLeft], &half, spare);
    if (child > kLeft) {
      inner = &half;
      child -= kLeft + 1;
    }
  }
  insert_at(inner->ids, inner->count, child, separator);
  insert_at(inner->children, inner->count + 1u, child + 1, right);
  ++inner->count;
}

// Splits the full leaf of the path. Changes `path.leaf` and `index` so that they still give the
// place of the new pair.
void Tree::split(Path& path, uint32_t& index, Spare& spare) {
  constexpr uint32_t kLeft = Leaf::kIds / 2;
  Leaf& left = *path.leaf;
  Leaf& right = *spare.leaf;
  right.count = static_cast<uint16_t>(Leaf::kIds - kLeft);
  std::copy_n(left.ids + kLeft, right.count, right.ids);
  left.count = static_cast<uint16_t>(kLeft);
  right.next = left.next;
  left.next = &right;
  dictionaries_.add_use(right.ids[0], kSeparator);
  add_child(path, path.depth, right.ids[0], &right, spare);
  if (index > kLeft) {  // at kLeft: the left leaf, as the separator is larger
    path.leaf = &right;
    index -= kLeft;
  }
}

int Tree::put(KeydromeBytes key, KeydromeBytes payload) noexcept {
  const Probe probe = Probe::at(key, payload);
  Path path = path_to(probe);
  uint32_t index = ids_before(path.leaf->ids, path.leaf->count, probe, false);
  if (index < path.leaf->count && dictionaries_.compare(path.leaf->ids[index], probe) == 0)
    return 0;
  Spare spare;
  if (!reserve(path, spare)) return KEYDROME_NO_MEMORY;
  const Id id = dictionaries_.add(probe);
  if (id == Dictionaries::kNone) {
    while (spare.count > 0) drop(spare.inners[--spare.count]);
    if (spare.leaf != nullptr) drop(spare.leaf);
    return KEYDROME_NO_MEMORY;
  }
  if (spare.leaf != nullptr) split(path, index, spare);
  insert_at(path.leaf->ids, path.leaf->count, index, id);
  ++path.leaf->count;
  return 1;
}

}  // namespace keydrome::delta_storage
