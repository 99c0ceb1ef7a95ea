// Implements Tree::try_merge of the adaptive radix tree: after deletions, replaces a node with few
// pairs by one page. A full page is divided into a node and several pages. Without try_merge, this
// node would stay even if most pairs were deleted. A tree in which pairs come and go would then
// grow to more than twice the memory of a tree that was only filled.
#include <array>
#include <bit>
#include <optional>

#include "structures/art/build.h"
#include "structures/art/search.h"
#include "structures/art/tree.h"

namespace keydrome::art {

namespace {

// A node with at most this many pairs becomes a page. The page is then at most 20/32 full, so a few
// insertions do not divide it again.
constexpr uint32_t kMergePairs = 20;
constexpr uint32_t kMergeBytes = kPageBytes * kMergePairs / kPagePairs;

// The children of a node with few pairs, in ascending order.
struct Few {
  uint32_t count = 0;
  uint32_t pairs = 0;
  uint32_t bytes = 0;
  std::array<Link, kMergePairs> links{};

  // Returns false if there are too many pairs, or if the child is a node.
  bool add(Link child) {
    if (child.is_node() || count == kMergePairs) return false;
    if (child.kind() == Kind::kWords) {
      const auto live = static_cast<uint32_t>(std::popcount(Words(child).live()));
      pairs += live;
      bytes += live * (kRecordHead + 2 * kWordBytes);
    } else if (child.kind() == Kind::kPage) {
      pairs += child.page_pairs();
      bytes += child.page_bytes();
    } else {
      ++pairs;
      bytes += kRecordHead + child.key_size() + child.payload_size();
    }
    links[count++] = child;
    return pairs <= kMergePairs && bytes <= kMergeBytes;
  }
};

// Returns false if a page cannot take all pairs of the node. The result is exact if the caller has
// locked the node and the word pages below it. The count includes the dead (deleted) pairs of pages
// that are not word pages.
bool collect_few(Link node, Few& few) {
  // Most nodes of this kind have too many children. Counting them in the order of the slots is
  // faster than visiting them in the order of their bytes.
  if (node.kind() == Kind::kNode48) {
    uint32_t children = 0;
    for (const Slot& slot : node.at<const Node48>()->children) {
      const Link child = slot.load();
      if (child.is_none()) continue;
      if (child.is_node() || ++children > kMergePairs) return false;
    }
  }
  uint32_t position = 0;
  for (Link child; !(child = next_child(node, position)).is_none();) {
    if (!few.add(child)) return false;
  }
  return few.count > 1;
}

}  // namespace

void Tree::try_merge(const Found& found) {
  if (found.node.is_none() || found.node.kind() == Kind::kNode256) return;
  // The deletion may have replaced the node and given back its memory.
  if (found.node_place.slot->load() != found.node) return;
  if (Few few; !collect_few(found.node, few)) return;
  const Held owner(*found.node_place.owner);
  if (!owner || found.node_place.slot->load() != found.node) return;
  Held node(lock_of(found.node));  // not obsolete, because a slot of the tree still links to it
  Few few;
  if (!collect_few(found.node, few)) return;
  // No other thread changes the pairs of these pages meanwhile, because a thread needs the lock of
  // the node or of the word page for this.
  std::array<std::optional<HeldPage>, kMergePairs> held;
  PairList list;
  for (uint32_t i = 0; i < few.count; ++i) {
    held[i].emplace(few.links[i]);
    const uint32_t live = live_of(few.links[i]);
    if (list.count + static_cast<uint32_t>(std::popcount(live)) > kMergePairs) return;
    list.append(few.links[i], live);
  }
  const Link page = make_pairs(memory_, list.pairs, list.count);
  if (page.is_none()) return;
  found.node_place.slot->store(page);
  node.make_obsolete();
  memory_.drop(found.node);
  for (uint32_t i = 0; i < few.count; ++i) {
    held[i]->make_obsolete();
    memory_.drop(few.links[i]);
  }
}

}  // namespace keydrome::art
