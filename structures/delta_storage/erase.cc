// Implements del() of Tree (tree.h): removes a pair, and joins nodes that have become small with a
// neighbour. The nodes contain ids, i.e. the numbers of pairs in the dictionary. If one node has no
// room for the ids of both, both nodes stay, and each gets half of the ids.
#include <algorithm>

#include "structures/delta_storage/tree.h"

namespace keydrome::delta_storage {
namespace {

// Returns true if a node has so few ids that it must be joined with a neighbour.
template <class Kind>
bool is_small(const Node& node) {
  return node.count < Kind::kIds / 3;
}

}  // namespace

// Removes the separator after a child, and the child on the right of it.
void Tree::remove_child(Inner& parent, uint32_t left_child) {
  std::copy(parent.ids + left_child + 1, parent.ids + parent.count, parent.ids + left_child);
  std::copy(parent.children + left_child + 2, parent.children + parent.count + 1,
            parent.children + left_child + 1);
  --parent.count;
}

// Joins two leaves, or gives each of them half of the ids. Returns true if the parent has lost a
// child.
bool Tree::join_leaves(Inner& parent, uint32_t left_child) {
  auto& left = static_cast<Leaf&>(*parent.children[left_child]);
  auto& right = static_cast<Leaf&>(*parent.children[left_child + 1]);
  const uint32_t all = left.count + right.count;
  dictionaries_.remove_use(parent.ids[left_child], kSeparator);
  if (all <= Leaf::kIds) {
    std::copy_n(right.ids, right.count, left.ids + left.count);
    left.count = static_cast<uint16_t>(all);
    left.next = right.next;
    drop(&right);
    remove_child(parent, left_child);
    return true;
  }
  std::array<Id, 2 * Leaf::kIds> ids;
  std::copy_n(right.ids, right.count, std::copy_n(left.ids, left.count, ids.begin()));
  left.count = static_cast<uint16_t>(all / 2);
  right.count = static_cast<uint16_t>(all - left.count);
  std::copy_n(ids.begin(), left.count, left.ids);
  std::copy_n(ids.begin() + left.count, right.count, right.ids);
  parent.ids[left_child] = right.ids[0];
  dictionaries_.add_use(right.ids[0], kSeparator);
  return false;
}

// Joins two inner nodes, or gives each of them half of the ids. The separator between them moves
// down. If both nodes stay, another separator moves up.
bool Tree::join_inners(Inner& parent, uint32_t left_child) {
  auto& left = static_cast<Inner&>(*parent.children[left_child]);
  auto& right = static_cast<Inner&>(*parent.children[left_child + 1]);
  constexpr uint32_t kBoth = 2 * Inner::kIds + 1;
  std::array<Id, kBoth> ids;
  std::array<Node*, kBoth + 1> children;
  Id* end = std::copy_n(left.ids, left.count, ids.data());
  *end++ = parent.ids[left_child];
  std::copy_n(right.ids, right.count, end);
  std::copy_n(right.children, right.count + 1,
              std::copy_n(left.children, left.count + 1, children.data()));
  const uint32_t all = left.count + 1u + right.count;
  const bool fits = all <= Inner::kIds;
  left.count = static_cast<uint16_t>(fits ? all : all / 2);
  std::copy_n(ids.data(), left.count, left.ids);
  std::copy_n(children.data(), left.count + 1, left.children);
  if (fits) {
    drop(&right);
    remove_child(parent, left_child);
    return true;
  }
  parent.ids[left_child] = ids[left.count];
  right.count = static_cast<uint16_t>(all - left.count - 1);
  std::copy_n(ids.data() + left.count + 1, right.count, right.ids);
  std::copy_n(children.data() + left.count + 1, right.count + 1, right.children);
  return false;
}

void Tree::rebalance(const Path& path) {
  bool is_less = is_small<Leaf>(*path.leaf);
  for (uint32_t depth = path.depth; is_less && depth > 0; --depth) {
    Inner& parent = *path.nodes[depth - 1];
    if (parent.count == 0) break;  // only a root can be empty; it is removed below
    const uint32_t left = std::min<uint32_t>(path.children[depth - 1], parent.count - 1u);
    is_less = parent.level == 1 ? join_leaves(parent, left) : join_inners(parent, left);
    is_less = is_less && is_small<Inner>(parent);
  }
  if (root_->level > 0 && root_->count == 0) {
    Node* child = static_cast<const Inner&>(*root_).children[0];
    drop(root_);
    root_ = child;
  }
}

int Tree::del(KeydromeBytes key, KeydromeBytes payload) noexcept {
  const Probe probe = Probe::at(key, payload);
  const Path path = path_to(probe);
  Leaf& leaf = *path.leaf;
  const uint32_t index = ids_before(leaf.ids, leaf.count, probe, false);
  if (index == leaf.count || dictionaries_.compare(leaf.ids[index], probe) != 0) return 0;
  dictionaries_.remove_use(leaf.ids[index], kInLeaf);
  std::copy(leaf.ids + index + 1, leaf.ids + leaf.count, leaf.ids + index);
  --leaf.count;
  rebalance(path);
  return 1;
}

}  // namespace keydrome::delta_storage
