// Splits and merges nodes of the B+-tree (tree.h), always in the same way. A change lists the items
// (keys with their values or children) of one or two neighbouring nodes. It builds new nodes from
// the list, and replaces the old nodes in their parent. If the parent has no room for the new
// nodes, it is built again, too, and so on upwards. The one step that makes the new nodes visible
// comes last and cannot fail, so a failed allocation leaves the tree unchanged.
#pragma once

#include <cstdint>

#include "structures/btree/tree.h"

namespace keydrome::btree {

// The nodes that a change has made, and the nodes that they replace. happened() frees the replaced
// nodes. If happened() has not been called, the destructor frees the new nodes.
template <class Layout>
class Tree<Layout>::Change {
 public:
  explicit Change(const Memory& memory) : memory_(memory) {}
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  ~Change() {
    while (made_count_ > 0) Layout::drop(memory_, made_[--made_count_]);
  }

  // Takes a node, or nullptr if there was no memory for it.
  Node* made(Node* node) {
    if (node != nullptr) made_[made_count_++] = node;
    return node;
  }
  void replaced(Node* node) { replaced_[replaced_count_++] = node; }
  void happened() {
    made_count_ = 0;
    while (replaced_count_ > 0) Layout::drop(memory_, replaced_[--replaced_count_]);
  }

 private:
  const Memory& memory_;
  Node* made_[2 * kLevels + 2];
  Node* replaced_[kLevels + 2];
  uint32_t made_count_ = 0;
  uint32_t replaced_count_ = 0;
};

// Replaces `part.old` nodes of a level by one or two new nodes that contain the items. Returns
// false if out of memory.
template <class Layout>
bool Tree<Layout>::rewrite(Path& path, uint32_t level, const Items& items, Replacement part,
                           Change& change) {
  uint32_t cut = Layout::cut(level, items);
  part.count = cut < items.count ? 2 : 1;
  if (part.count == 2 && part.append) cut = items.count - (level > 0 ? 2 : 1);
  part.nodes[0] = change.made(Layout::build(memory_, level, items, 0, cut));
  if (part.nodes[0] == nullptr) return false;
  if (part.count == 2) {
    part.nodes[1] = change.made(Layout::build(memory_, level, items, cut, items.count));
    if (part.nodes[1] == nullptr) return false;
    part.separator = Layout::separator(level, items, cut);
  }
  for (uint32_t i = 0; i < part.old; ++i) {
    const bool is_root = level == root_->level;
    change.replaced(is_root ? root_ : Layout::child(*path.node[level + 1], part.first + i));
  }
  return hang(path, level, part, change);
}

// Makes the new nodes of a level visible. Sets path.node[0] to nullptr, because this leaf may have
// been freed. Returns false if out of memory.
template <class Layout>
bool Tree<Layout>::hang(Path& path, uint32_t level, const Replacement& part, Change& change) {
  if (level == root_->level) {
    Node* top = part.nodes[0];
    if (part.count == 2) {
      if (level + 2 >= kLevels) return false;
      Items two;
      two.insert(0, Layout::inner_item(Separator{}, part.nodes[0]));
      two.insert(1, Layout::inner_item(part.separator, part.nodes[1]));
      top = change.made(Layout::build(memory_, level + 1, two, 0, 2));
      if (top == nullptr) return false;
    }
    root_ = top;
    path.node[0] = nullptr;
    change.happened();
    return true;
  }
  Node& parent = *path.node[level + 1];
  if (hang_in_place(parent, part)) {
    path.node[0] = nullptr;
    change.happened();
    return true;
  }
  Items items;
  Layout::gather(parent, items);
  items.set_child(part.first, part.nodes[0]);
  if (part.old == 1) {
    items.insert(part.first + 1, Layout::inner_item(part.separator, part.nodes[1]));
  } else {
    items.set_separator(part.first + 1, part.separator);
    items.set_child(part.first + 1, part.nodes[1]);
  }
  const uint32_t first = level + 1 < root_->level ? path.at[level + 2] : 0;
  const bool append = part.append && part.first + 2 == items.count;
  return rewrite(path, level + 1, items, {first, 1, append, 0, {}, {}}, change);
}

// Returns false, and changes nothing, if the parent has no room. A single new node always fits.
template <class Layout>
bool Tree<Layout>::hang_in_place(Node& parent, const Replacement& part) {
  const uint32_t next = part.first + 1;
  if (part.count == 2 && part.old == 1) {
    if (!Layout::insert_child(parent, next, part.separator, part.nodes[1])) return false;
  } else if (part.count == 2) {
    if (!Layout::assign_separator(parent, next, part.separator)) return false;
    Layout::assign_child(parent, next, part.nodes[1]);
  } else if (part.old == 2) {
    Layout::erase_child(parent, next);
  }
  Layout::assign_child(parent, part.first, part.nodes[0]);
  return true;
}

}  // namespace keydrome::btree
