// Functions of the B+-tree (tree.h) for many pairs at once. load appends a run (a buffer of the
// caller) of ascending pairs. split moves the upper part of a tree to another tree. concat joins
// two trees. clear frees all nodes.
#pragma once

#include <cstdint>
#include <utility>

#include "structures/btree/rewrite.h"
#include "structures/btree/tree.h"

namespace keydrome::btree {

// The pairs of a run come after all pairs of the tree, so each pair goes to the last leaf. The path
// to this leaf is reused until the leaf is replaced. Then path.node[0] is nullptr.
template <class Layout>
int Tree<Layout>::load(const KeydromeRun& run) {
  Path path;
  path.node[0] = nullptr;
  KeydromeBytes key, payload;
  for (uint32_t at = 0; at < run.size;) {
    at = keydrome_run_read(&run, at, &key, &payload);
    const Probe probe = probe_of(key);
    if (path.node[0] == nullptr) descend(probe, path);
    if (put_in(path, probe, Span::of(payload)) < 0) return KEYDROME_NO_MEMORY;
  }
  return 0;
}

// Divides each node on the path to the key, from the leaf upwards. Nodes that are not on the path
// are not copied.
template <class Layout>
bool Tree<Layout>::split(KeydromeBytes key, Tree& high) {
  const Probe probe = probe_of(key);
  Path path;
  descend(probe, path);
  bool same;
  path.at[0] = Layout::place(*path.node[0], probe, same);
  // If the key is too long, a tree with the layout Fixed (keys of 4 or 8 bytes) searches only for
  // its first bytes. A stored key of exactly these bytes is smaller than the long key, so it stays
  // in the low part.
  if (same && key.size > key_bytes_ && !holds(key)) ++path.at[0];
  Change low_change(memory_);
  Change high_change(high.memory_);
  Halves halves;
  const uint32_t top = root_->level;
  for (uint32_t level = 0; level <= top; ++level) {
    if (!divide(path, level, high.memory_, halves, low_change, high_change)) return false;
  }
  if (halves.low == nullptr) halves.low = low_change.made(Layout::make(memory_, 0));
  if (halves.low == nullptr) return false;
  if (halves.high != nullptr) {
    Layout::drop(high.memory_, high.root_);
    high.root_ = halves.high;
  }
  for (uint32_t level = 0; level <= top; ++level) low_change.replaced(path.node[level]);
  root_ = halves.low;
  low_change.happened();
  high_change.happened();
  shrink_root();
  high.shrink_root();
  return true;
}

// Makes two new nodes from the node of a level. At the call, `halves` has the two parts of the
// node's child on the path. Afterwards, it has the two parts of the node. An empty part is nullptr.
template <class Layout>
bool Tree<Layout>::divide(const Path& path, uint32_t level, const Memory& high_memory,
                          Halves& halves, Change& low_change, Change& high_change) {
  Items items;
  Layout::gather(*path.node[level], items);
  const uint32_t at = path.at[level];
  uint32_t low_end = at;
  uint32_t high_begin = level > 0 ? at + 1 : at;
  if (halves.low != nullptr) {
    items.set_child(at, halves.low);
    low_end = at + 1;
  }
  if (low_end > 0) {
    halves.low = low_change.made(Layout::build(memory_, level, items, 0, low_end));
    if (halves.low == nullptr) return false;
  }
  if (halves.high != nullptr) {
    items.set_child(at, halves.high);
    high_begin = at;
  }
  if (high_begin == items.count) return true;
  halves.high = high_change.made(Layout::build(high_memory, level, items, high_begin, items.count));
  return halves.high != nullptr;
}

template <class Layout>
int Tree<Layout>::concat(Tree& high) {
  if (Layout::items(*high.root_) == 0 || Layout::items(*root_) == 0) {
    if (Layout::items(*root_) == 0) std::swap(root_, high.root_);
    Layout::drop(memory_, std::exchange(high.root_, nullptr));
    return 0;
  }
  const Node* last = root_;
  while (last->level > 0) last = Layout::child(*last, Layout::items(*last) - 1);
  const Node* first = high.root_;
  while (first->level > 0) first = Layout::child(*first, 0);
  Items items;
  Layout::gather(*last, items);
  Layout::gather(*first, items);
  if (!join(high, Layout::separator(0, items, last->count))) return KEYDROME_NO_MEMORY;
  high.root_ = nullptr;
  return 0;
}

// Joins two trees. If their heights differ, the root of the shorter tree becomes the first or last
// child of a node of the taller tree. `separator` is the boundary between the two trees.
template <class Layout>
bool Tree<Layout>::join(Tree& high, const Separator& separator) {
  Change change(memory_);
  if (root_->level == high.root_->level) return join_equal(high, separator, change);
  const bool is_lower = root_->level < high.root_->level;
  Node* const low_root = root_;
  Node* const child = is_lower ? root_ : high.root_;
  if (is_lower) root_ = high.root_;
  Path path;
  Node* node = root_;
  for (uint32_t level = root_->level; level > child->level; --level) {
    path.node[level] = node;
    path.at[level] = is_lower ? 0 : Layout::items(*node) - 1;
    node = Layout::child(*node, path.at[level]);
  }
  Replacement part{path.at[child->level + 1], 1, !is_lower, 2, {node, child}, separator};
  if (is_lower) std::swap(part.nodes[0], part.nodes[1]);
  if (hang(path, child->level, part, change)) return true;
  root_ = low_root;
  return false;
}

template <class Layout>
bool Tree<Layout>::join_equal(Tree& high, const Separator& separator, Change& change) {
  Path path;
  if (!Layout::mergeable(*root_, *high.root_)) {
    return hang(path, root_->level, {0, 1, false, 2, {root_, high.root_}, separator}, change);
  }
  Items items;
  Layout::gather(*root_, items);
  const uint32_t middle = items.count;
  Layout::gather(*high.root_, items);
  if (root_->level > 0) items.set_separator(middle, separator);
  const uint32_t level = root_->level;
  if (!rewrite(path, level, items, {0, 1, false, 0, {}, {}}, change)) return false;
  Layout::drop(memory_, high.root_);
  return true;
}

template <class Layout>
void Tree<Layout>::clear() {
  if (root_ != nullptr) clear(std::exchange(root_, nullptr));
}

// The recursion is at most kLevels deep.
template <class Layout>
void Tree<Layout>::clear(Node* node) {
  for (uint32_t i = 0; i < Layout::items(*node); ++i) {
    if (node->level > 0) {
      clear(Layout::child(*node, i));
    } else if (const PayloadSet set = Layout::value(*node, i).set; set != 0) {
      Sets::drop(memory_, set);
    }
  }
  Layout::drop(memory_, node);
}

}  // namespace keydrome::btree
