// Implements walk.h.
#include "structures/art/walk.h"

#include <utility>

namespace keydrome::art {

void Walk::push(Link node, uint32_t position) { frames_[length_++] = {node, position}; }

// Follows the probe's digits to a leaf, to an empty tree, or to a node without a child for the
// probe's digit, and returns this. The frames then continue after the path. The path ends with the
// node that has no child.
Link Walk::follow(Link link, const Pair& probe) {
  while (link.is_node()) {
    const int digit = probe.digit(link.depth());
    const Link* child = descend(link, digit);
    if (link.kind() == Kind::kFork) {
      push(link, digit == kEnd ? 1 : 2);
    } else {
      push(link, position_after(link, digit));
    }
    if (child == nullptr) break;
    link = *child;
  }
  return link;
}

// A search skips digits, so the subtree at the end of the path may differ from the probe at a digit
// before its depth. Any leaf of it shows at which one: then the whole part of the tree from that
// digit on is smaller or larger than the probe.
Walk::Walk(Link root, const Pair& probe, bool after) {
  Link part = follow(root, probe);
  if (part.is_none()) return;
  const Pair stored = minimum(part).pair();
  const uint32_t depth = difference(probe, stored);
  if (depth == kSame) {
    if (!after) first_ = part;
    return;
  }
  // The node without a child for the digit in which the probe differs: its frame is right.
  if (part.is_node() && part.depth() == depth) return;
  while (length_ > 0 && frames_[length_ - 1].node.depth() > depth) part = frames_[--length_].node;
  if (stored.digit(depth) > probe.digit(depth)) first_ = part;
}

Link Walk::next() {
  Link link = std::exchange(first_, Link());
  while (true) {
    if (link.is_node()) {
      push(link, 0);
    } else if (!link.is_none()) {
      return link;
    }
    if (length_ == 0) return Link();
    Frame& frame = frames_[length_ - 1];
    link = next_child(frame.node, frame.position);
    if (link.is_none()) --length_;
  }
}

}  // namespace keydrome::art
