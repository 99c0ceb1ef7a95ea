// Implements Tree::del of the adaptive radix tree. A deletion marks the pair as dead in its page.
// If the pair is the last live pair of its leaf or page, the deletion removes the leaf or page from
// its node. If the node then has one child left, the child replaces the node by one store of a
// link. No other store is needed, because the link also contains the depth of the child. If more
// children are left, a smaller node or a page (merge.cc) may replace the node. If there is no
// memory for this smaller node or page, the node stays as it is, so del never fails. Only word
// pages have a lock of their own (words.h).
#include <bit>

#include "structures/art/build.h"
#include "structures/art/search.h"
#include "structures/art/tree.h"

namespace keydrome::art {

// Finds a stored pair. Returns false if it does not exist.
bool Tree::find_pair(const Pair& pair, Found& found) {
  found.node = Link();
  found.place = root_place();
  Link link = found.place.slot->load();
  while (link.is_node()) {
    Slot* slot = descend(link, pair.digit(link.depth()));
    if (slot == nullptr) return false;
    found.node_place = found.place;
    found.node = link;
    found.place = {&lock_of(link), slot, link.depth()};
    link = slot->load();
  }
  found.link = link;
  if (link.is_none()) return false;
  if (link.kind() == Kind::kWords) {
    const Words words(link);
    if (is_word_pair(pair)) words.ask_for(word_at(pair.key));
    found.bit = words.slot_of(pair);
    return found.bit != Words::kNoSlot;
  }
  const Pairs pairs(link);
  const Pairs::Rank rank = pairs.rank(pair);
  found.bit = rank.index;
  return rank.exact && (pairs.live() >> rank.index & 1) != 0;
}

int Tree::del(const Pair& pair) {
  return change(pair, [&](bool alone) { return try_del(pair, alone); });
}

int Tree::try_del(const Pair& pair, bool alone) {
  Found found;
  if (!find_pair(pair, found)) return 0;
  if (found.place.depth > pair.key_size && !alone) return kSpread;
  const uint32_t live = live_of(found.link);
  if ((live >> found.bit & 1) == 0) return kRetry;  // another thread has deleted the pair
  const bool last = std::has_single_bit(live);
  if (last && found.node.is_none()) return remove_root(found, pair);
  int result = 0;
  if (last) {
    result = remove_last(found, pair);
  } else if (found.link.kind() == Kind::kWords) {
    result = kill_in_words(found, pair);
  } else {
    result = kill(found, pair);
  }
  if (result == 1) try_merge(found);
  return result;
}

namespace {

// Returns true if the pair is the only live one of a leaf or page. The caller has locked the owner,
// and also the page if it is a word page.
bool is_last_pair(Link link, uint32_t bit, const Pair& pair) {
  return std::has_single_bit(live_of(link)) && has_payload(link, bit, pair);
}

}  // namespace

// Marks a pair of a page as dead. The page must have further live pairs. If fewer than half of the
// page's pairs are then live, kill() tries to replace the page by a smaller one.
int Tree::kill(const Found& found, const Pair& pair) {
  const Held owner(*found.place.owner);
  if (!owner || found.place.slot->load() != found.link) return kRetry;
  const Page page(found.link);
  if (!has_payload(found.link, found.bit, pair)) return kRetry;
  if (std::has_single_bit(page.live())) return kRetry;
  page.kill(found.bit);
  const uint32_t live = page.live();
  const uint32_t count = found.link.page_pairs();
  if (2 * static_cast<uint32_t>(std::popcount(live)) >= count) return 1;
  PairList list;
  list.append(found.link, live);
  const Link smaller = make_pairs(memory_, list.pairs, list.count);
  if (smaller.is_none()) return 1;
  found.place.slot->store(smaller);
  memory_.drop(found.link);
  return 1;
}

// The same for a word page, whose own lock is enough to mark the pair.
int Tree::kill_in_words(const Found& found, const Pair& pair) {
  const Words words(found.link);
  uint32_t live = 0;
  {
    const Held held(words.lock());
    if (!held || !has_payload(found.link, found.bit, pair)) return kRetry;
    if (std::has_single_bit(words.live())) return kRetry;
    words.remove(found.bit);
    live = words.live();
  }
  if (2 * static_cast<uint32_t>(std::popcount(live)) < found.link.slots()) shrink(found);
  return 1;
}

// Replaces a word page by a smaller one, unless another thread has changed the place, or there is
// no memory.
void Tree::shrink(const Found& found) {
  const Held owner(*found.place.owner);
  if (!owner || found.place.slot->load() != found.link) return;
  HeldPage held(found.link);
  PairList list;
  list.append(found.link, live_of(found.link));
  if (2 * list.count >= found.link.slots()) return;
  const Link smaller = make_pairs(memory_, list.pairs, list.count);
  if (smaller.is_none()) return;
  found.place.slot->store(smaller);
  held.make_obsolete();
  memory_.drop(found.link);
}

// Removes a leaf, or a page with one live pair, that is the only child of the tree.
int Tree::remove_root(const Found& found, const Pair& pair) {
  const Held owner(lock_);
  if (root_.load() != found.link) return kRetry;
  HeldPage held(found.link);
  if (!is_last_pair(found.link, found.bit, pair)) return kRetry;
  root_.store(Link());
  held.make_obsolete();
  memory_.drop(found.link);
  return 1;
}

namespace {

// Returns true if the node has two children. If it loses one of them, the other must replace the
// node. Sets `sparse` if so few children then remain that a smaller node should replace this node.
bool keeps_one(Link node, bool& sparse) {
  const auto judge = [&](uint32_t live, uint32_t shrink) {
    sparse = live - 1 <= shrink;
    return live == 2;
  };
  switch (node.kind()) {
    case Kind::kFork:
      return true;
    case Kind::kNode4:
      return judge(node.at<Node4>()->live, 0);
    case Kind::kNode16:
      return judge(node.at<Node16>()->live, kShrink16);
    case Kind::kNode48:
      return judge(node.at<Node48>()->live, kShrink48);
    default:
      return judge(node.at<Node256>()->live, kShrink256);
  }
}

// Empties a slot of a node. The caller has locked the node.
void empty_slot(Link node, Slot& slot) {
  slot.store(Link());
  const auto count = [](auto& it) { --it.live; };
  if (node.kind() == Kind::kNode4) count(*node.at<Node4>());
  if (node.kind() == Kind::kNode16) count(*node.at<Node16>());
  if (node.kind() == Kind::kNode48) count(*node.at<Node48>());
  if (node.kind() == Kind::kNode256) count(*node.at<Node256>());
}

}  // namespace

// Returns the link that replaces the node after it loses the child with the pair: its only other
// child, or a smaller copy. Returns an empty link if the node stays. The caller has locked the
// node.
Link Tree::without(const Found& found) {
  bool sparse = false;
  const bool one = keeps_one(found.node, sparse);
  if (!one && !sparse) return Link();
  if (found.node.kind() == Kind::kFork) {
    Fork& fork = *found.node.at<Fork>();
    return (found.place.slot == &fork.end ? fork.rest : fork.end).load();
  }
  Children children;
  collect_children(found.node, children);
  uint32_t at = 0;
  while (children.links[at] != found.link) ++at;
  remove_child(children, children.bytes[at]);
  return one ? children.links[0] : make_node_of(memory_, found.node.depth(), children);
}

// Removes a leaf, or a page with one live pair, from its node.
int Tree::remove_last(const Found& found, const Pair& pair) {
  const Held owner(*found.node_place.owner);
  if (!owner || found.node_place.slot->load() != found.node) return kRetry;
  Held node(*found.place.owner);  // not obsolete, because a slot of the tree still links to it
  if (found.place.slot->load() != found.link) return kRetry;
  HeldPage page(found.link);
  if (!is_last_pair(found.link, found.bit, pair)) return kRetry;
  const Link instead = without(found);
  if (instead.is_none()) {
    empty_slot(found.node, *found.place.slot);
  } else {
    found.node_place.slot->store(instead);
    node.make_obsolete();
    memory_.drop(found.node);
  }
  page.make_obsolete();
  memory_.drop(found.link);
  return 1;
}

}  // namespace keydrome::art
