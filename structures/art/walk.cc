// Implements walk.h: finds the first pair of a scan in the adaptive radix tree, and collects leaves
// and pages in order. A *digit* is a byte of key or payload, or an end mark (pair.h).
#include "structures/art/walk.h"

#include <algorithm>

#include "structures/art/lock.h"

namespace keydrome::art {

// Follows the digits of the probe to a leaf or page, to an empty tree, or to a node without a child
// for the next digit. Returns the last link of this path. Pushes a frame, i.e. the node and the
// position of its next child, for each node of the path, also for a node at its end. The position
// in each frame is that of the first child after the path.
Link Walk::follow(Link link) {
  while (link.is_node()) {
    const int digit = probe_.digit(link.depth());
    const Slot* slot = descend(link, digit);
    if (link.kind() == Kind::kFork) {
      push(link, digit == kEnd ? 1 : 2);
    } else {
      push(link, position_after(link, digit));
    }
    const Link child = slot == nullptr ? Link() : slot->load();
    if (child.is_none()) break;
    link = child;
  }
  return link;
}

Walk::Walk(const Slot& root, const Pair& probe, bool after) : probe_(probe), after_(after) {
  for (Wait wait; !begin(root.load());) wait.once();
}

// A search skips digits, so the subtree at the end of the path may differ from the probe in a digit
// that was skipped. A comparison with any pair of this subtree shows the depth of this digit. All
// pairs below the node that skips this digit are then smaller than the probe, or all are larger.
// Returns false if other threads have deleted the pairs meanwhile.
bool Walk::begin(Link root) {
  length_ = 0;
  const Link end = follow(root);
  if (end.is_none()) return true;
  const Link some = minimum(end);
  if (some.is_none()) return false;
  const AnyPair stored(some);
  const uint32_t depth = difference(probe_, *stored);
  Link part = end;
  while (length_ > 0 && frames_[length_ - 1].node.depth() > depth) part = frames_[--length_].node;
  if (part.is_node()) {
    // If the probe has all digits that the last node skips, the frame of this node already has the
    // right position.
    const bool skipped = length_ == 0 || frames_[length_ - 1].node != part;
    if (skipped && stored->digit(depth) > probe_.digit(depth)) first_ = {part, false};
    return true;
  }
  first_ = {part, true};
  return true;
}

// Takes leaves and pages until it has enough pairs or stretches.
class Walk::Collector {
 public:
  Collector(Stretch* stretches, uint32_t most, uint32_t pairs)
      : stretches_(stretches), most_(most), pairs_(pairs) {}

  uint32_t count() const { return count_; }
  bool is_full() const { return count_ == most_ || pairs_ == 0; }

  void take(const Stretch& stretch) {
    ask_for_pairs(stretch.link);
    stretches_[count_++] = stretch;
    pairs_ -= std::min(pairs_, likely_pairs(stretch.link));
  }

  // Takes leaves and pages from `position` on, and moves `position` past them. Stops at the first
  // child that is a node, and returns it. Returns an empty link at the end of the node, or if the
  // collector is full.
  template <class Node>
  Link take_from(const Node& node, uint32_t& position) {
    while (!is_full()) {
      const Link child = next_in(node, position);
      if (child.is_none() || child.is_node()) return child;
      take({child, false});
    }
    return Link();
  }

 private:
  Stretch* stretches_;
  uint32_t most_;
  uint32_t pairs_;  // number of pairs that are still needed
  uint32_t count_ = 0;
};

uint32_t Walk::collect(Stretch* stretches, uint32_t most, uint32_t pairs) {
  Collector collector(stretches, most, pairs);
  if (first_.link.is_node()) {
    push(first_.link, 0);
  } else if (!first_.link.is_none()) {
    collector.take(first_);
  }
  first_ = {};
  while (length_ > 0 && !collector.is_full()) {
    Frame& frame = frames_[length_ - 1];
    const Link child = with_node(
        frame.node, [&](const auto& node) { return collector.take_from(node, frame.position); });
    if (!child.is_none()) {
      push(child, 0);
    } else if (!collector.is_full()) {
      --length_;
    }
  }
  return collector.count();
}

}  // namespace keydrome::art
