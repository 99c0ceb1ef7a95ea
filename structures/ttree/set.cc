// Implements parts of Set (set.h), a T-tree: destroys it, searches for paths, and keeps it
// balanced.
#include "structures/ttree/set.h"

#include <algorithm>

namespace keydrome::ttree {
namespace {

// Move entries of `from`, the next or previous node in key order, to `leaf` until `leaf` is full.
// `from` keeps at least one entry. A double rotation can turn a leaf with a single entry into an
// inner node. Before such a rotation, balance() calls one of these functions, so that no inner node
// is nearly empty.
void fill_from_next(Node& leaf, Node& from) {
  from.move_front(std::min<uint32_t>(from.count - 1, leaf.capacity - leaf.count), leaf);
}
void fill_from_previous(Node& leaf, Node& from) {
  from.move_tail(std::min<uint32_t>(from.count - 1, leaf.capacity - leaf.count), leaf);
}

}  // namespace

Set::~Set() {
  for (Node* node = first().node; node != nullptr;) {
    Node* next = node->next;
    drop(node);
    node = next;
  }
}

Place Set::first() const {
  Node* node = root_;
  while (node != nullptr && node->left != nullptr) node = node->left;
  return {node, 0};
}

// Returns the path to the node that bounds the probe (set.h). If there is none, returns the path to
// the last node of the search. The set must not be empty.
Set::Path Set::path_to(const Probe& probe) {
  Path path;
  for (Node** link = &root_; *link != nullptr;) {
    path.push(link);
    Node* node = *link;
    if (node->begins_after(probe)) {
      link = &node->left;
    } else if (node->ends_before(probe)) {
      link = &node->right;
    } else {
      break;
    }
  }
  return path;
}

// Restores the heights of the nodes on the path, from its end to the root, after the height of a
// child of its last node has changed.
void Set::rebalance(Path& path) {
  while (path.size > 0) {
    Node*& link = *path.links[--path.size];
    const int before = link->height;
    link = balance(link);
    if (link->height == before) return;
  }
}

// Balances a node whose children are balanced and differ in height by at most two. Returns the root
// of the subtree.
Node* Set::balance(Node* node) {
  const auto height = Node::height_of;
  const int lean = height(node->left) - height(node->right);
  if (lean > 1) {
    Node* left = node->left;
    if (height(left->left) < height(left->right)) {
      if (left->right->is_leaf()) fill_from_previous(*left->right, *left);
      node->left = rotate_left(left);
    }
    return rotate_right(node);
  }
  if (lean < -1) {
    Node* right = node->right;
    if (height(right->right) < height(right->left)) {
      if (right->left->is_leaf()) fill_from_next(*right->left, *right);
      node->right = rotate_right(right);
    }
    return rotate_left(node);
  }
  node->set_height();
  return node;
}

Node* Set::rotate_left(Node* node) {
  Node* top = node->right;
  node->right = top->left;
  top->left = node;
  node->set_height();
  top->set_height();
  return top;
}

Node* Set::rotate_right(Node* node) {
  Node* top = node->left;
  node->left = top->right;
  top->right = node;
  node->set_height();
  top->set_height();
  return top;
}

}  // namespace keydrome::ttree
