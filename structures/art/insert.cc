// Implements Tree::put of the adaptive radix tree: adds a pair at the first digit in which it
// differs from the stored pairs. A *digit* is a byte of key or payload, or an end mark (pair.h).
// The *depth* of a node is the position of the digit by which it chooses a child. A node *skips*
// the digits between its parent's depth and its own depth. All pairs below the node have the same
// digits there, so a search does not compare these digits.
#include <cstring>

#include "structures/art/build.h"
#include "structures/art/search.h"
#include "structures/art/tree.h"

namespace keydrome::art {

// Follows the digits of the pair to a leaf or page, to a node without a child for the next digit,
// or to the empty root. If no node on the path skips digits, the path has compared all digits.
// Otherwise find_spot also compares the pair with any stored pair below the end of the path.
// Returns false if a change of another thread interferes.
bool Tree::find_spot(const Pair& pair, Spot& spot) {
  Place place = root_place();
  Link link = place.slot->load();
  uint32_t verified = 0;  // the number of digits that were compared, if no node skipped digits
  bool skipped = false;
  spot.change = Spot::kAdd;
  while (link.is_node()) {
    const uint32_t depth = link.depth();
    skipped |= depth > verified;
    const int digit = pair.digit(depth);
    Slot* slot = descend(link, digit);
    const Link child = slot == nullptr ? Link() : slot->load();
    if (child.is_none()) {
      spot.change = digit == kEnd ? Spot::kBranch : Spot::kGrow;
      break;
    }
    verified = link.kind() == Kind::kFork && digit != kEnd ? depth : depth + 1;
    place = {&lock_of(link), slot, depth};
    link = child;
  }
  spot.place = place;
  spot.link = link;
  spot.depth = link.is_node() ? link.depth() : place.depth;
  spot.other = kBeyond;
  if (!skipped) return true;
  const Link some = minimum(link);
  if (some.is_none()) return false;
  const uint32_t depth = difference(pair, *AnyPair(some));
  return depth >= spot.depth || find_branch(pair, depth, spot);
}

// Finds the node that skips the digit at `depth`. In this digit the pair first differs from the
// pairs below the node.
bool Tree::find_branch(const Pair& pair, uint32_t depth, Spot& spot) {
  Place place = root_place();
  Link link = place.slot->load();
  while (link.is_node() &&
         (link.depth() < depth || (link.depth() == depth && link.kind() == Kind::kFork))) {
    Slot* slot = descend(link, pair.digit(link.depth()));
    if (slot == nullptr) return false;
    place = {&lock_of(link), slot, link.depth()};
    link = slot->load();
  }
  if (!link.is_node() || link.depth() <= depth) return false;
  const Link some = minimum(link);
  if (some.is_none()) return false;
  const AnyPair stored(some);
  if (difference(pair, *stored) != depth) return false;
  spot = {place, link, depth, stored->digit(depth), Spot::kBranch, {}};
  return true;
}

namespace {

// Returns true if a word page with the pairs of `old` and the new pair is possible.
bool takes_word_pair(Link old, const Pair& pair) {
  if (!is_word_pair(pair)) return false;
  return old.kind() == Kind::kWords ? Words(old).live() != UINT32_MAX : is_word_leaf(old);
}
bool has_word_pair(Link old, const Pair& pair) {
  if (old.kind() == Kind::kWords) return Words(old).slot_of(pair) != Words::kNoSlot;
  return std::memcmp(old.at<void>(), pair.key, kWordBytes) == 0 && has_payload(old, 0, pair);
}

// Returns true if a page has no dead pairs, and room for another pair.
bool has_room_for(Link page, const Pair& pair) {
  const uint32_t count = page.page_pairs();
  return count < kPagePairs && page.page_bytes() + record_size(pair) <= kPageBytes &&
         Page(page).live() == UINT32_MAX >> (32 - count);
}

}  // namespace

int Tree::put(const Pair& pair) {
  return change(pair, [&](bool alone) { return try_put(pair, alone); });
}

int Tree::try_put(const Pair& pair, bool alone) {
  Spot spot;
  if (!find_spot(pair, spot)) return kRetry;
  const bool spread =
      spot.place.depth > pair.key_size || (spot.link.is_node() && spot.depth > pair.key_size);
  switch (spot.change) {
    case Spot::kAdd:
      if (spread && !alone) return kSpread;
      return add_at(spot, pair);
    case Spot::kBranch:
      return spread && !alone ? kSpread : add_branch(spot, pair);
    default:
      return spread && !alone ? kSpread : add_child(spot, pair);
  }
}

// Adds the pair to the empty tree, or to a leaf or page.
int Tree::add_at(Spot& spot, const Pair& pair) {
  if (spot.link.kind() == Kind::kWords) {
    const int result = add_word_pair(spot.link, pair);
    return result == kCopy ? add_pair(spot, pair) : result;
  }
  if (spot.link.kind() == Kind::kPage) {
    ask_for_pairs(spot.link);
    spot.rank = Pairs(spot.link).rank(pair);
    if (spot.rank.exact && (live_of(spot.link) >> spot.rank.index & 1) != 0) return 0;
  }
  return add_pair(spot, pair);
}

// Adds the pair to a word page in place. Returns kCopy if the page has no free slot, or if the pair
// does not consist of two words. The caller needs no lock of the owner: a page that is not obsolete
// is still in the tree. The pair still belongs to this page, because no writer puts a new node
// between a page and its owner.
int Tree::add_word_pair(Link page, const Pair& pair) {
  if (!is_word_pair(pair)) return kCopy;
  const Words words(page);
  words.ask_for(word_at(pair.key));
  const Held held(words.lock());
  if (!held) return kRetry;
  if (words.slot_of(pair) != Words::kNoSlot) return 0;
  if (!words.has_room()) return kCopy;
  words.add(word_at(pair.key), word_at(pair.payload));
  return 1;
}

// Adds the pair to the empty tree, or to a leaf or page, which is replaced by a copy.
int Tree::add_pair(const Spot& spot, const Pair& pair) {
  const Held owner(*spot.place.owner);
  if (!owner || spot.place.slot->load() != spot.link) return kRetry;
  const Link old = spot.link;
  HeldPage held(old);
  Link now{};
  if (old.is_none()) {
    now = make_leaf(memory_, pair);
  } else if (old.kind() == Kind::kPage && has_room_for(old, pair)) {
    now = make_page_with(memory_, old, spot.rank.index, pair);
  } else if (takes_word_pair(old, pair)) {
    if (has_word_pair(old, pair)) return 0;
    now = make_words_with(memory_, old, pair);
  } else {
    PairList list;
    list.append(old, live_of(old));  // A dead pair stays dead, even if it equals `pair`.
    if (!list.insert(pair)) return 0;
    const bool fits =
        list.fits_page() || (old.kind() == Kind::kPage && list.count <= old.page_pairs());
    now = fits ? make_pairs(memory_, list.pairs, list.count) : make_subtree(memory_, list);
  }
  if (now.is_none()) return KEYDROME_NO_MEMORY;
  spot.place.slot->store(now);
  held.make_obsolete();
  if (!old.is_none()) memory_.drop(old);
  return 1;
}

// Puts a new node above the node or leaf that find_spot has found. The new node has two children:
// the old node or leaf, and a new leaf with the pair.
int Tree::add_branch(const Spot& spot, const Pair& pair) {
  const Held owner(*spot.place.owner);
  if (!owner || spot.place.slot->load() != spot.link) return kRetry;
  const Link leaf = make_leaf(memory_, pair);
  if (leaf.is_none()) return KEYDROME_NO_MEMORY;
  const int digit = pair.digit(spot.depth);
  Link node{};
  if (digit == kEnd || spot.other == kEnd) {
    node = memory_.make_node<Fork>(spot.depth);
    if (!node.is_none()) {
      Fork& fork = *node.at<Fork>();
      fork.end.store(digit == kEnd ? leaf : spot.link);
      fork.rest.store(digit == kEnd ? spot.link : leaf);
    }
  } else {
    Children children;
    children.add(static_cast<uint8_t>(spot.other), spot.link);
    insert_child(children, static_cast<uint8_t>(digit), leaf);
    node = make_node_of(memory_, spot.depth, children);
  }
  if (node.is_none()) {
    memory_.drop(leaf);
    return KEYDROME_NO_MEMORY;
  }
  spot.place.slot->store(node);
  return 1;
}

namespace {

// Returns true if the node has room for a child with this byte. The caller has locked the node. The
// bytes of a Node4 or Node16 never change. So a Node4 or Node16 has room only if it already
// contains the byte, whose child was deleted.
bool has_room(Link node, uint8_t byte) {
  if (slot_of(node, byte) != nullptr) return true;
  return node.kind() == Kind::kNode48 && node.at<Node48>()->count < Node48::kCapacity;
}

// Adds a child to a node. The node has room, and the caller has locked it.
void fill_slot(Link node, uint8_t byte, Link child) {
  const auto fill_sorted = [=](auto& sorted) {
    slot_in(sorted, byte)->store(child);
    ++sorted.live;
  };
  if (node.kind() == Kind::kNode4) return fill_sorted(*node.at<Node4>());
  if (node.kind() == Kind::kNode16) return fill_sorted(*node.at<Node16>());
  if (node.kind() == Kind::kNode256) {
    ++node.at<Node256>()->live;
    return slot_in(*node.at<Node256>(), byte)->store(child);
  }
  Node48& large = *node.at<Node48>();
  ++large.live;
  if (Slot* slot = slot_in(large, byte); slot != nullptr) return slot->store(child);
  large.children[large.count++].store(child);
  // Pairs with the load in slot_in: a reader that sees the index sees the child.
  large.index[byte].store(large.count, std::memory_order_release);
}

}  // namespace

// Adds a leaf with the pair to the node that find_spot has found.
int Tree::add_child(const Spot& spot, const Pair& pair) {
  const Link node = spot.link;
  const auto byte = static_cast<uint8_t>(pair.digit(node.depth()));
  {
    const Held held(lock_of(node));
    if (!held) return kRetry;
    if (has_room(node, byte)) {
      const Slot* present = slot_of(node, byte);
      if (present != nullptr && !present->load().is_none()) return kRetry;
      const Link leaf = make_leaf(memory_, pair);
      if (leaf.is_none()) return KEYDROME_NO_MEMORY;
      fill_slot(node, byte, leaf);
      return 1;
    }
  }
  return grow(spot, pair);
}

// Replaces the node that find_spot has found by a copy with one more child, a leaf with the pair.
int Tree::grow(const Spot& spot, const Pair& pair) {
  const Link node = spot.link;
  const auto byte = static_cast<uint8_t>(pair.digit(node.depth()));
  const Held owner(*spot.place.owner);
  if (!owner || spot.place.slot->load() != node) return kRetry;
  Held held(lock_of(node));  // not obsolete, because a slot of the tree still links to it
  if (has_room(node, byte)) return kRetry;
  const Link leaf = make_leaf(memory_, pair);
  if (leaf.is_none()) return KEYDROME_NO_MEMORY;
  Children children;
  collect_children(node, children);
  insert_child(children, byte, leaf);
  const Link larger = make_node_of(memory_, node.depth(), children);
  if (larger.is_none()) {
    memory_.drop(leaf);
    return KEYDROME_NO_MEMORY;
  }
  spot.place.slot->store(larger);
  held.make_obsolete();
  memory_.drop(node);
  return 1;
}

}  // namespace keydrome::art
