// Implements Tree::check() of the adaptive radix tree, which tests call. It checks every invariant
// of the tree in one walk over all nodes, leaves and pages. README.md lists the invariants. A
// *digit* is a byte of key or payload, or an end mark (pair.h). The *depth* of a node is the
// position of the digit by which it chooses a child.
#include <bit>
#include <cstring>

#include "structures/art/search.h"
#include "structures/art/tree.h"

namespace keydrome::art {

namespace {

// Return values of check(): the first broken invariant. 0 means that all invariants hold.
enum Broken : int {
  kDepth = 1,  // a child is not deeper than its parent, or `rest` is less deep than its fork
  kFill,       // a node has fewer than two children, or its count is wrong
  kBytes,      // the bytes of a Node4 or Node16 are not ascending, or an unused one is wrong
  kIndex,      // two bytes of a Node48 have the same slot, or a slot with a child has no byte
  kDigit,      // a search for the smallest pair of a child does not reach the child
  kOrder,      // a pair is not larger than the previous pair
  kBranch,     // neighbouring pairs do not first differ at the depth of their last common node
  kPage,       // a page has no live pair, a wrong tag, or a wrong record
  kWords,      // a word page has no live pair, a live slot that was never filled, or a wrong tag
};

template <uint32_t kSize>
int check_node(const SortedNode<kSize>& node) {
  if (node.count < 2 || node.count > kSize) return kFill;
  uint32_t children = 0;
  for (uint32_t i = 0; i < kSize; ++i) {
    const bool used = i < node.count;
    if (i > 0 && (used ? node.bytes[i] <= node.bytes[i - 1] : node.bytes[i] != node.bytes[i - 1])) {
      return kBytes;
    }
    const bool empty = node.children[i].load().is_none();
    if (!used && !empty) return kBytes;
    children += !empty;
  }
  return children == node.live && children >= 2 ? 0 : kFill;
}

int check_node(const Fork& fork) {
  return fork.end.load().is_none() || fork.rest.load().is_none() ? kFill : 0;
}

int check_node(const Node48& node) {
  bool seen[Node48::kCapacity + 1] = {};
  uint32_t used = 0;
  for (const auto& element : node.index) {
    const uint32_t index = element.load();
    if (index > node.count || (index != 0 && seen[index])) return kIndex;
    seen[index] = true;
    used += index != 0;
  }
  uint32_t children = 0;
  for (uint32_t i = 0; i < Node48::kCapacity; ++i) {
    const bool empty = node.children[i].load().is_none();
    if (!empty && !seen[i + 1]) return kIndex;
    children += !empty;
  }
  return used == node.count && children == node.live && children >= 2 ? 0 : kFill;
}

int check_node(const Node256& node) {
  uint32_t children = 0;
  for (const Slot& slot : node.children) children += !slot.load().is_none();
  return children == node.live && children >= 2 ? 0 : kFill;
}

int check_page(Link link) {
  const Page page(link);
  const uint32_t count = link.page_pairs();
  if (count < 2 || page.live() == 0) return kPage;
  for (uint32_t i = 0; i < count; ++i) {
    const Pair pair = page.pair(i);
    if (page.tags()[i] != tag_of(pair.key, pair.key_size)) return kPage;
    if (i > 0 && page.offset(i) != page.end(i - 1)) return kPage;
  }
  const uint32_t bytes = Page::records_at(count, link.is_uniform()) + page.end(count - 1);
  return Memory::page_bytes(bytes) == link.page_bytes() ? 0 : kPage;
}

int check_words(Link link) {
  const Words words(link);
  const uint32_t slots = link.slots();
  const uint32_t live = words.live();
  if (slots < 2 || slots != Words::slots_for(slots)) return kWords;
  if (live == 0 || (live & ~words.used()) != 0) return kWords;
  if ((words.used() & ~(UINT32_MAX >> (kPagePairs - slots))) != 0) return kWords;
  for (uint32_t some = live; some != 0; some &= some - 1) {
    if (!words.has_right_tag(static_cast<uint32_t>(std::countr_zero(some)))) return kWords;
  }
  return 0;
}

// Returns true if a search for the smallest pair of a child finds this child.
bool is_reached(Link node, Link child) {
  const Slot* slot = descend(node, AnyPair(minimum(child))->digit(node.depth()));
  return slot != nullptr && slot->load() == child;
}

class TreeChecker {
 public:
  // Checks a subtree. The recursion is at most kPathMax levels deep.
  int check(Link link) {
    if (!link.is_node()) return check_pairs(link);
    const int broken = with_node(link, [](const auto& node) { return check_node(node); });
    if (broken != 0) return broken;
    uint32_t position = 0;
    for (Link child; !(child = next_child(link, position)).is_none(); parting_ = link.depth()) {
      const bool rest = link.kind() == Kind::kFork && position == 2;
      if (child.is_node() && child.depth() < link.depth() + (rest ? 0 : 1)) return kDepth;
      if (!is_reached(link, child)) return kDigit;
      const int below = check(child);
      if (below != 0) return below;
    }
    return 0;
  }

 private:
  int check_pairs(Link link) {
    int broken = link.kind() == Kind::kPage ? check_page(link) : 0;
    if (link.kind() == Kind::kWords) broken = check_words(link);
    if (broken != 0) return broken;
    const Pairs pairs(link);
    for (uint32_t i = 0; i < pairs.count(); ++i) {
      const Pair pair = pairs[i];
      if (has_last_) {
        const uint32_t depth = difference(last_, pair);
        if (depth == kSame || last_.digit(depth) >= pair.digit(depth)) return kOrder;
        if (i == 0 && depth != parting_) return kBranch;
        if (i > 0 && depth < parting_) return kBranch;
      }
      remember(pair);
    }
    return 0;
  }

  // Copies the bytes of the pair, because they may belong to a local object of the caller.
  void remember(const Pair& pair) {
    has_last_ = true;
    last_ = pair;
    std::memcpy(key_, pair.key, pair.key_size);
    std::memcpy(payload_, pair.payload, pair.payload_size);
    last_.key = key_;
    last_.payload = payload_;
  }

  uint8_t key_[KEYDROME_KEY_BYTES_MAX] = {};
  uint8_t payload_[KEYDROME_PAYLOAD_BYTES_MAX] = {};
  Pair last_{};  // the previous pair, with its bytes in the two arrays
  bool has_last_ = false;
  // depth of the last common node on the paths to the previous and the next pair
  uint32_t parting_ = 0;
};

}  // namespace

int Tree::check() const {
  const Link root = root_.load();
  return root.is_none() ? 0 : TreeChecker().check(root);
}

}  // namespace keydrome::art
