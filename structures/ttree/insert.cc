// Implements the insertion of entries into Set (set.h), a T-tree. All memory is allocated before
// the first change.
#include <new>

#include "structures/ttree/set.h"

namespace keydrome::ttree {

// Returns nullptr if out of memory.
Node* Set::make_node(uint32_t capacity) {
  void* memory = memory_.allocate(Node::bytes(capacity), alignof(Node));
  return memory == nullptr ? nullptr : new (memory) Node(capacity);
}

bool Set::insert(const Probe& probe, Item item) {
  const Entry entry{probe.head, item};
  if (root_ == nullptr) {
    root_ = make_node(Node::kCapacityFirst);
    if (root_ == nullptr) return false;
    root_->insert(0, entry);
    ++size_;
    return true;
  }
  if (root_->is_full() && root_->capacity < Node::kCapacity && !grow()) return false;
  Path path = path_to(probe);
  Node* node = path.node();
  const bool is_left = node->begins_after(probe);
  const bool is_right = node->ends_before(probe);
  if (!node->is_full()) {
    node->insert(node->lower_bound(probe), entry);
  } else if (!is_left && !is_right) {
    if (!insert_in_bounds(path, entry, probe)) return false;
  } else {
    Node* leaf = make_node(Node::kCapacity);
    if (leaf == nullptr) return false;
    link_leaf(path, is_left ? &node->left : &node->right, leaf, entry);
  }
  ++size_;
  return true;
}

// Replaces the only node by one with twice the capacity. Returns false if out of memory.
bool Set::grow() {
  Node* larger = make_node(root_->capacity * 2u);
  if (larger == nullptr) return false;
  root_->move_front(root_->count, *larger);
  drop(root_);
  root_ = larger;
  return true;
}

// Inserts an entry into a full node that bounds it, i.e. between the first and the last entry of
// the node. Makes room by moving the first entry of the node to the end of the left subtree.
// Returns false if out of memory.
bool Set::insert_in_bounds(Path& path, const Entry& entry, const Probe& probe) {
  Node* node = path.node();
  const bool has_room = node->left != nullptr && !node->previous->is_full();
  Node* leaf = has_room ? nullptr : make_node(Node::kCapacity);
  if (!has_room && leaf == nullptr) return false;
  const Entry first = node->entries()[0];
  const uint32_t index = node->lower_bound(probe);
  node->erase(0);
  node->insert(index - 1, entry);
  if (has_room) {
    node->previous->insert(node->previous->count, first);
    return true;
  }
  Node** link = &node->left;
  for (; *link != nullptr; link = &(*link)->right) path.push(link);
  link_leaf(path, link, leaf, first);
  return true;
}

// Links a new leaf with one entry. `link` is the left or right link of the last node of the path.
void Set::link_leaf(Path& path, Node** link, Node* leaf, const Entry& entry) {
  Node* parent = path.node();
  leaf->insert(0, entry);
  leaf->previous = link == &parent->left ? parent->previous : parent;
  leaf->next = link == &parent->left ? parent : parent->next;
  if (leaf->previous != nullptr) leaf->previous->next = leaf;
  if (leaf->next != nullptr) leaf->next->previous = leaf;
  *link = leaf;
  rebalance(path);
}

}  // namespace keydrome::ttree
