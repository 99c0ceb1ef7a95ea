// Implements walk.h.
#include "structures/art/walk.h"

#include <algorithm>

namespace keydrome::art {

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

// Takes the leaves of one node after another.
struct Walk::Collector {
  Link* leaves;
  uint32_t most;
  uint32_t count = 0;

  void take(Link leaf) {
    const auto* bytes = leaf.at<const char>();
    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + leaf.key_size() + leaf.payload_size() - 1);
    leaves[count++] = leaf;
  }

  // The functions `from` take leaves from `position` on, and move `position` past them. They return
  // the first child that is a node, or an empty link at the end of the node, or if enough leaves
  // are collected.
  template <uint32_t kSize>
  Link from(const SortedNode<kSize>& node, uint32_t& position) {
    while (position < node.count && count < most) {
      const Link child = node.children[position++];
      if (child.is_node()) return child;
      take(child);
    }
    return Link();
  }

  // The next node is far away in memory, too, so a Node256 asks for those that follow soon.
  Link from(const Node256& node, uint32_t& position) {
    constexpr uint32_t kAhead = 8;
    while (position < Node256::kCapacity && count < most) {
      const Link soon = node.children[std::min(position + kAhead, Node256::kCapacity - 1)];
      if (soon.kind() == Kind::kNode4) __builtin_prefetch(soon.at<const char>());
      const Link child = node.children[position++];
      if (child.is_none()) continue;
      if (child.is_node()) {
        if (position < Node256::kCapacity) ask_for_node(node.children[position]);
        return child;
      }
      take(child);
    }
    return Link();
  }

  static void ask_for_node(Link link) {
    if (!link.is_node()) return;
    for (uint32_t at = 0; at < sizeof(Node16); at += 64) {
      __builtin_prefetch(link.at<const char>() + at);
    }
  }

  Link from_other(Link node, uint32_t& position) {
    while (count < most) {
      const Link child = next_child(node, position);
      if (child.is_none() || child.is_node()) return child;
      take(child);
    }
    return Link();
  }

  Link from(Link node, uint32_t& position) {
    if (node.kind() == Kind::kNode256) return from(*node.at<const Node256>(), position);
    if (node.kind() == Kind::kNode16) return from(*node.at<const Node16>(), position);
    if (node.kind() == Kind::kNode4) return from(*node.at<const Node4>(), position);
    return from_other(node, position);
  }
};

uint32_t Walk::collect(Link* leaves, uint32_t most) {
  Collector collector{leaves, most};
  if (first_.is_node()) {
    push(first_, 0);
  } else if (!first_.is_none()) {
    collector.take(first_);
  }
  first_ = Link();
  while (length_ > 0 && collector.count < most) {
    Frame& frame = frames_[length_ - 1];
    const Link child = collector.from(frame.node, frame.position);
    if (!child.is_none()) {
      push(child, 0);
    } else if (collector.count < most) {
      --length_;
    }
  }
  return collector.count;
}

}  // namespace keydrome::art
