// Implements Tree::del. A node that keeps one child is replaced by this child: because links
// contain depths, the paths merge without further work. Other nodes shrink if memory for the
// smaller node is available, so del never fails.
#include "structures/art/change.h"
#include "structures/art/search.h"
#include "structures/art/tree.h"

namespace keydrome::art {

int Tree::del(const Pair& pair) {
  Link* parent = nullptr;  // the place of the link to the node that contains `place`
  Link* place = &root_;
  while (place->is_node()) {
    Link* child = descend(*place, pair.digit(place->depth()));
    if (child == nullptr) return 0;
    parent = place;
    place = child;
  }
  const Link leaf = *place;
  if (leaf.is_none() || difference(pair, leaf.pair()) != kSame) return 0;
  if (parent == nullptr) {
    root_ = Link();
  } else {
    remove_leaf(parent, pair.digit(parent->depth()));
  }
  memory_.drop(leaf);
  return 1;
}

// Removes the leaf for `digit` from the node to which *parent links. Does not free the leaf.
void Tree::remove_leaf(Link* parent, int digit) {
  const Link node = *parent;
  if (node.kind() == Kind::kFork) {
    const Fork& fork = *node.at<const Fork>();
    *parent = digit == kEnd ? fork.rest : fork.end;
    memory_.drop(node);
    return;
  }
  remove_child(node, static_cast<uint8_t>(digit));
  if (child_count(node) == 1) {
    *parent = only_child(node);
    memory_.drop(node);
  } else if (is_sparse(node)) {
    const Link smaller = shrunk(memory_, node);
    if (smaller.is_none()) return;
    *parent = smaller;
    memory_.drop(node);
  }
}

}  // namespace keydrome::art
