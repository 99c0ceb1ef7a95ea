// Implements Tree::put: adds a leaf at the first digit in which the new pair differs from the
// stored pairs.
#include "structures/art/change.h"
#include "structures/art/search.h"
#include "structures/art/tree.h"

namespace keydrome::art {

namespace {

// Returns the place of the link to the deepest part of the tree whose pairs agree with `pair` in
// all digits before `depth`: a leaf, or a node that is deeper or a non-fork of this depth.
Link* place_at(Link* place, const Pair& pair, uint32_t depth) {
  while (place->is_node() &&
         (place->depth() < depth || (place->depth() == depth && place->kind() == Kind::kFork))) {
    place = descend(*place, pair.digit(place->depth()));
  }
  return place;
}

// Where a new pair belongs.
struct Spot {
  Link* place;
  uint32_t depth;  // of the first digit in which the pair differs from those at `place`, or kSame
  int other;       // their digit; not used if the node at `place` has no child for the pair's digit
};

// If no node on the path skips digits, all digits up to the last node are known to be equal.
// Otherwise find_spot reads some leaf after that node: all its leaves have the skipped digits.
Spot find_spot(Link* root, const Pair& pair) {
  Link* place = root;
  uint32_t verified = 0;  // so many digits were compared, if none was skipped
  bool skipped = false;
  while (place->is_node()) {
    const uint32_t depth = place->depth();
    skipped |= depth > verified;
    const int digit = pair.digit(depth);
    Link* child = descend(*place, digit);
    if (child == nullptr) break;
    verified = place->kind() == Kind::kFork && digit != kEnd ? depth : depth + 1;
    place = child;
  }
  if (place->is_none() || (place->is_node() && !skipped)) return {place, place->depth(), kBeyond};
  const Pair stored = minimum(*place).pair();
  const uint32_t depth = difference(pair, stored);
  if (skipped && depth != kSame) place = place_at(root, pair, depth);
  return {place, depth, stored.digit(depth)};
}

}  // namespace

int Tree::put(const Pair& pair) {
  const auto [place, depth, other] = find_spot(&root_, pair);
  if (depth == kSame) return 0;
  const Link leaf = memory_.make_leaf(pair);
  if (leaf.is_none()) return KEYDROME_NO_MEMORY;
  int result = 1;
  if (place->is_none()) {
    *place = leaf;
  } else if (place->is_node() && place->depth() == depth && pair.digit(depth) != kEnd) {
    result = put_below(place, pair, leaf);
  } else {
    result = branch(place, depth, pair, leaf, other);
  }
  if (result < 0) memory_.drop(leaf);
  return result;
}

// Adds a leaf to the node at `place`, which has no child for the pair's digit. Returns 1, or
// KEYDROME_NO_MEMORY if the node must grow and cannot.
int Tree::put_below(Link* place, const Pair& pair, Link leaf) {
  const Link node = *place;
  const auto byte = static_cast<uint8_t>(pair.digit(node.depth()));
  if (!is_full(node)) {
    add_child(node, byte, leaf);
    return 1;
  }
  const Link larger = grown(memory_, node);
  if (larger.is_none()) return KEYDROME_NO_MEMORY;
  add_child(larger, byte, leaf);
  *place = larger;
  memory_.drop(node);
  return 1;
}

// Replaces the link at `place` by a new node of depth `depth` with two children: what was there,
// and the leaf. `other` is the digit of the former, which counts only if the pair's digit is a byte.
int Tree::branch(Link* place, uint32_t depth, const Pair& pair, Link leaf, int other) {
  const int digit = pair.digit(depth);
  if (digit == kEnd || other == kEnd) {
    const Link fork = memory_.make_node<Fork>(depth);
    if (fork.is_none()) return KEYDROME_NO_MEMORY;
    *fork.at<Fork>() = digit == kEnd ? Fork{leaf, *place} : Fork{*place, leaf};
    *place = fork;
    return 1;
  }
  const Link node = memory_.make_node<Node4>(depth);
  if (node.is_none()) return KEYDROME_NO_MEMORY;
  add_child(node, static_cast<uint8_t>(other), *place);
  add_child(node, static_cast<uint8_t>(digit), leaf);
  *place = node;
  return 1;
}

}  // namespace keydrome::art
