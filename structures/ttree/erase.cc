// Implements the deletion of entries from Set (set.h), a T-tree.
#include "structures/ttree/set.h"

namespace keydrome::ttree {
namespace {

// A node with two children that has fewer entries takes the largest entry of its left subtree.
constexpr uint32_t kInnerMin = Node::kCapacity / 2;
// A node takes all entries of its only child if both together have at most this many. The rest
// stays free, so that a few insertions do not split the node again.
constexpr uint32_t kMergedMax = Node::kCapacity * 3 / 4;

}  // namespace

void Set::erase(const Probe& probe) {
  Path path = path_to(probe);
  Node* node = path.node();
  node->erase(node->lower_bound(probe));
  --size_;
  settle(path);
}

// The last node of the path has lost an entry. Restores the limits for the number of entries
// (README.md), and frees nodes that become empty.
void Set::settle(Path& path) {
  Node* node = path.node();
  if (node->has_both()) {
    if (node->count >= kInnerMin) return;
    Node* inner = node;
    for (Node** link = &inner->left; *link != nullptr; link = &(*link)->right) path.push(link);
    node = path.node();
    node->move_tail(1, *inner);
  }
  // Now `node` has at most one child. The child is a leaf, because the tree is balanced.
  Node*& link = node->left != nullptr ? node->left : node->right;
  Node* child = link;
  if (child == nullptr) {
    if (node->count > 0) return;
    *path.links[--path.size] = nullptr;
    unlink(node);
  } else {
    if (node->count > 0 && node->count + child->count > kMergedMax) return;
    if (child == node->left) {
      child->move_tail(child->count, *node);
    } else {
      child->move_front(child->count, *node);
    }
    link = nullptr;
    unlink(child);
  }
  rebalance(path);
}

// Removes an empty node from the list, and frees it.
void Set::unlink(Node* node) {
  if (node->previous != nullptr) node->previous->next = node->next;
  if (node->next != nullptr) node->next->previous = node->previous;
  drop(node);
}

}  // namespace keydrome::ttree
