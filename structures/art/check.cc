// Implements Tree::check(), which tests call. It checks every invariant of the tree in one walk
// over all nodes and leaves.
#include "structures/art/change.h"
#include "structures/art/search.h"
#include "structures/art/tree.h"

namespace keydrome::art {

namespace {

// Return values of check(): the first broken invariant. 0 means that all invariants hold.
enum Broken : int {
  kDepth = 1,   // a child is not deeper than its parent
  kFill,        // a node has fewer than two children, or its count is wrong
  kBytes,       // the bytes of a Node4 or Node16 are not ascending, or an unused one is wrong
  kSlots,       // two bytes of a Node48 have the same child, or a child has no byte
  kDigit,       // the digits of a leaf do not lead to it
  kOrder,       // a leaf is not larger than the leaf before it
  kBranch,      // two neighbouring leaves do not first differ where their paths part
  kNodeCounts,  // the tree's counters are wrong
};

template <uint32_t kSize>
int check_bytes(const SortedNode<kSize>& node) {
  if (node.count < 2 || node.count > kSize) return kFill;
  for (uint32_t i = 1; i < kSize; ++i) {
    const bool used = i < node.count;
    if (used ? node.bytes[i] <= node.bytes[i - 1] : node.bytes[i] != node.bytes[i - 1]) {
      return kBytes;
    }
    if (used == node.children[i].is_none()) return kBytes;
  }
  return 0;
}

int check_slots(const Node48& node) {
  bool seen[Node48::kCapacity + 1] = {};
  uint32_t children = 0;
  for (uint32_t slot : node.slots) {
    if (slot > Node48::kCapacity || (slot != 0 && seen[slot])) return kSlots;
    seen[slot] = true;
    children += slot != 0;
  }
  for (uint32_t i = 0; i < Node48::kCapacity; ++i) {
    if (seen[i + 1] == node.children[i].is_none()) return kSlots;
  }
  return children == node.count && children >= 2 ? 0 : kFill;
}

int check_count(const Node256& node) {
  uint32_t children = 0;
  for (const Link child : node.children) children += !child.is_none();
  return children == node.count && children >= 2 ? 0 : kFill;
}

int check_node(Link link) {
  switch (link.kind()) {
    case Kind::kFork:
      return link.at<Fork>()->end.is_none() || link.at<Fork>()->rest.is_none() ? kFill : 0;
    case Kind::kNode4:
      return check_bytes(*link.at<const Node4>());
    case Kind::kNode16:
      return check_bytes(*link.at<const Node16>());
    case Kind::kNode48:
      return check_slots(*link.at<const Node48>());
    default:
      return check_count(*link.at<const Node256>());
  }
}

// Returns true if a search for the smallest pair of a child finds this child.
bool is_reached(Link node, Link child) {
  const Link* found = descend(node, minimum(child).pair().digit(node.depth()));
  return found != nullptr && found->at<void>() == child.at<void>();
}

struct TreeChecker {
  Link last{};           // the leaf before
  uint32_t parting = 0;  // depth of the node where the paths to the last and the next leaf part
  uint64_t counts[kKinds] = {};

  int check_leaf(Link leaf) {
    ++counts[static_cast<uint32_t>(Kind::kLeaf)];
    if (!last.is_none()) {
      const uint32_t depth = difference(last.pair(), leaf.pair());
      if (depth != parting) return kBranch;
      if (last.pair().digit(depth) >= leaf.pair().digit(depth)) return kOrder;
    }
    last = leaf;
    return 0;
  }

  // Checks a subtree. The recursion is at most kPathMax levels deep.
  int check(Link link) {
    if (!link.is_node()) return check_leaf(link);
    ++counts[static_cast<uint32_t>(link.kind())];
    const int broken = check_node(link);
    if (broken != 0) return broken;
    uint32_t position = 0;
    for (Link child; !(child = next_child(link, position)).is_none(); parting = link.depth()) {
      const bool fork = link.kind() == Kind::kFork && position == 2;
      if (child.is_node() && child.depth() < link.depth() + (fork ? 0 : 1)) return kDepth;
      if (!is_reached(link, child)) return kDigit;
      const int below = check(child);
      if (below != 0) return below;
    }
    return 0;
  }
};

}  // namespace

int Tree::check() const {
  TreeChecker checker;
  const int broken = root_.is_none() ? 0 : checker.check(root_);
  if (broken != 0) return broken;
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    if (checker.counts[kind] != memory_.count(static_cast<Kind>(kind))) return kNodeCounts;
  }
  return 0;
}

}  // namespace keydrome::art
