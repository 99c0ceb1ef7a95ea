// Implements del of Tree (tree.h), which deletes a pair of key and payload. A node that becomes
// empty is dropped, which needs no memory. A node with few items is merged with a neighbour, if
// both together leave room for insertions. If there is no memory for the merged node, the two nodes
// stay as they are.
#pragma once

#include <cstdint>

#include "structures/btree/rewrite.h"
#include "structures/btree/tree.h"

namespace keydrome::btree {

template <class Layout>
int Tree<Layout>::del(KeydromeBytes key, KeydromeBytes payload) {
  if (!holds(key)) return 0;
  const Probe probe = probe_of(key);
  Path path;
  descend(probe, path);
  Node& leaf = *path.node[0];
  bool same;
  const uint32_t slot = Layout::place(leaf, probe, same);
  if (!same) return 0;
  const Value held = Layout::value(leaf, slot);
  if (held.set == 0) {
    if (!equal_bytes(held.payload, Span::of(payload))) return 0;
    erase_slot(path, slot);
    return 1;
  }
  PayloadSet set = held.set;
  if (Sets::erase(memory_, set, Span::of(payload)) == 0) return 0;
  if (set == 0) {
    erase_slot(path, slot);
    return 1;
  }
  Span only;
  if (Sets::single(set, only) && Layout::fits_inline(leaf, only.size) &&
      Layout::assign(leaf, slot, {only})) {
    Sets::drop(memory_, set);
  } else if (set != held.set) {
    Layout::assign(leaf, slot, {{}, set});
  }
  return 1;
}

template <class Layout>
void Tree<Layout>::erase_slot(Path& path, uint32_t slot) {
  Layout::erase(*path.node[0], slot);
  uint32_t level = 0;
  if (path.node[0]->count == 0 && path.node[0] != root_) {
    // A parent that has no other child is dropped, too. The loop ends at the root at the latest,
    // because an inner root has two or more children.
    for (bool dropped = true; dropped; ++level) {
      Node& parent = *path.node[level + 1];
      dropped = Layout::items(parent) == 1;
      if (!dropped) Layout::erase_child(parent, path.at[level + 1]);
      Layout::drop(memory_, path.node[level]);
    }
  }
  while (level < root_->level && Layout::thin(*path.node[level]) && merge(path, level)) ++level;
  shrink_root();
}

// Merges a node with a neighbour. Returns false if that is impossible or there is no memory.
template <class Layout>
bool Tree<Layout>::merge(Path& path, uint32_t level) {
  const Node& node = *path.node[level];
  const Node& parent = *path.node[level + 1];
  uint32_t first = path.at[level + 1];
  if (first + 1 == Layout::items(parent) ||
      !Layout::mergeable(node, *Layout::child(parent, first + 1))) {
    if (first == 0 || !Layout::mergeable(*Layout::child(parent, first - 1), node)) return false;
    --first;
  }
  Items items;
  Layout::gather(*Layout::child(parent, first), items);
  const uint32_t middle = items.count;
  Layout::gather(*Layout::child(parent, first + 1), items);
  if (level > 0) items.set_separator(middle, Layout::separator_of(parent, first + 1));
  Change change(memory_);
  return rewrite(path, level, items, {first, 2, false, 0, {}, {}}, change);
}

template <class Layout>
void Tree<Layout>::shrink_root() {
  while (root_->level > 0 && Layout::items(*root_) == 1) {
    Node* child = Layout::child(*root_, 0);
    Layout::drop(memory_, root_);
    root_ = child;
  }
}

}  // namespace keydrome::btree
