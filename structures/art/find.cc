// Implements Tree::find and Tree::find_batch of the adaptive radix tree. find_batch runs a group of
// lookups in turns: while one lookup waits for memory, the others continue. A *digit* is a byte of
// key or payload, or an end mark (pair.h). The *depth* of a node is the position of the digit by
// which it chooses a child.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "structures/art/search.h"
#include "structures/art/tree.h"
#include "structures/art/walk.h"

namespace keydrome::art {

namespace {

constexpr uint32_t kGroup = 24;  // lookups in a group

// Follows the link from a node to the subtree that contains the pairs of `key`. Returns an empty
// link if the node has no such subtree. Does not compare the digits that the node skips, i.e. those
// between the digit of its parent and its own. The depth of the node must be at most the size of
// the key, so that the node does not divide the payloads of the key.
[[gnu::always_inline]] inline Link child_for(Link node, const uint8_t* key, uint32_t key_size) {
  const uint32_t depth = node.depth();
  if (node.kind() == Kind::kNode256 && depth < key_size) {
    return node.at<const Node256>()->children[key[depth]].load();  // most frequent
  }
  if (node.kind() == Kind::kFork) {
    const auto& fork = *node.at<const Fork>();
    return (depth == key_size ? fork.end : fork.rest).load();
  }
  if (depth == key_size) return Link();
  const Slot* slot = slot_of(node, key[depth]);
  return slot == nullptr ? Link() : slot->load();
}

int copy_payload(const Pair& pair, KeydromeBuffer& payload) {
  copy_bytes(static_cast<uint8_t*>(payload.data), pair.payload, pair.payload_size);
  payload.size = pair.payload_size;
  return 1;
}

bool has_key(const Pair& pair, const uint8_t* key, uint32_t key_size) {
  return pair.key_size == key_size && equal_bytes(pair.key, key, key_size);
}

int copy_word(uint64_t word, KeydromeBuffer& payload) {
  std::memcpy(payload.data, &word, sizeof word);
  payload.size = sizeof word;
  return 1;
}

// The functions find_in... copy the smallest payload of the key and return 1 if the leaf or page
// has the key. Otherwise they return 0.

[[gnu::always_inline]] inline int find_in_words(const Words& words, uint64_t key,
                                                KeydromeBuffer& payload) {
  uint32_t some = words.matches(key, words.live());
  if (some == 0) return 0;
  uint64_t smallest = words.payload(static_cast<uint32_t>(std::countr_zero(some)));
  for (some &= some - 1; some != 0; some &= some - 1) {
    const uint64_t other = words.payload(static_cast<uint32_t>(std::countr_zero(some)));
    if (in_order(other) < in_order(smallest)) smallest = other;
  }
  return copy_word(smallest, payload);
}

int find_in_leaf(Link link, const uint8_t* key, uint32_t key_size, KeydromeBuffer& payload) {
  const Pair pair = leaf_pair(link);
  if (!has_key(pair, key, key_size)) return 0;
  if (!is_word_leaf(link)) return copy_payload(pair, payload);
  return copy_word(word_payload(link).load(std::memory_order_acquire), payload);
}

int find_in(Link link, const uint8_t* key, uint32_t key_size, KeydromeBuffer& payload) {
  if (link.kind() == Kind::kWords) {
    return key_size == kWordBytes ? find_in_words(Words(link), word_at(key), payload) : 0;
  }
  if (link.kind() != Kind::kPage) {
    return link.is_none() ? 0 : find_in_leaf(link, key, key_size, payload);
  }
  const Page page(link);
  const uint8_t tag = tag_of(key, key_size);
  for (uint32_t some = page.matches(tag) & page.live(); some != 0; some &= some - 1) {
    const Pair pair = page.pair(static_cast<uint32_t>(std::countr_zero(some)));
    if (has_key(pair, key, key_size)) return copy_payload(pair, payload);
  }
  return 0;
}

// Prefetches what the next step of a search reads. In a Node48 or Node256, this is the element for
// the next byte of the key. In a smaller node, it is the first 48 bytes: all of a Fork or Node4. A
// leaf or page is prefetched as a whole, except a word page.
[[gnu::always_inline]] inline void ask_for(Link link, const uint8_t* key, uint32_t key_size) {
  const auto* address = link.at<const char>();
  const bool has_digit = link.is_node() && link.depth() < key_size;
  const uint32_t byte = has_digit ? key[link.depth()] : 0;
  switch (link.kind()) {
    case Kind::kNode256:
      __builtin_prefetch(address + offsetof(Node256, children) + byte * sizeof(Slot));
      return;
    case Kind::kNode48:
      __builtin_prefetch(address + offsetof(Node48, index) + byte);
      return;
    case Kind::kWords:
      if (key_size == kWordBytes) Words(link).ask_for(word_at(key));
      return;
    case Kind::kLeaf:
    case Kind::kPage:
      ask_for_pairs(link);
      return;
    default:
      __builtin_prefetch(address);
      __builtin_prefetch(address + sizeof(Node4) - 1);
      return;
  }
}

// Returns true if a search for a key continues below this link. A search for a key ends at a node
// that is deeper than the key, because such a node divides the payloads of one key.
bool continues(Link link, uint32_t key_size) { return link.is_node() && link.depth() <= key_size; }

// Moves up to kGroup searches to their ends. In every round, each search takes one step, and
// prefetches the memory that its next step reads.
void descend_group(uint32_t count, const KeydromeLookup* lookups, Link* links) {
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < count; ++i) {
      const KeydromeBytes key = lookups[i].key;
      if (!continues(links[i], key.size)) continue;
      const auto* bytes = static_cast<const uint8_t*>(key.data);
      const Link next = child_for(links[i], bytes, key.size);
      links[i] = next;
      if (next.is_none()) continue;
      ask_for(next, bytes, key.size);
      more |= next.is_node();
    }
  }
}

}  // namespace

int Tree::find(KeydromeBytes key, KeydromeBuffer& payload) const {
  const auto* bytes = static_cast<const uint8_t*>(key.data);
  Link link = root_.load();
  while (continues(link, key.size)) link = child_for(link, bytes, key.size);
  if (link.is_node()) return find_spread(Pair::of(key, {nullptr, 0}), false, payload);
  if (link.kind() == Kind::kPage) ask_for_pairs(link);
  if (link.kind() == Kind::kWords && key.size == kWordBytes) {
    const Words words(link);
    const uint64_t word = word_at(bytes);
    words.ask_for(word);
    return find_in_words(words, word, payload);
  }
  return find_in(link, bytes, key.size, payload);
}

int Tree::find_after(const Pair& after, KeydromeBuffer& payload) const {
  Link link = root_.load();
  while (continues(link, after.key_size)) link = child_for(link, after.key, after.key_size);
  if (link.is_node()) return find_spread(after, true, payload);
  if (link.is_none()) return 0;
  const Pairs pairs(link);
  const Pairs::Rank rank = pairs.rank(after);
  const uint32_t live = pairs.live();
  for (uint32_t i = rank.index + (rank.exact ? 1 : 0); i < pairs.count(); ++i) {
    if ((live >> i & 1) == 0) continue;
    const Pair pair = pairs[i];
    return has_key(pair, after.key, after.key_size) ? copy_payload(pair, payload) : 0;
  }
  return 0;
}

void Tree::find_batch(uint32_t count, KeydromeLookup* lookups) const {
  for (uint32_t from = 0; from < count; from += kGroup) {
    const uint32_t group = std::min(kGroup, count - from);
    Link links[kGroup];
    std::fill_n(links, group, root_.load());
    descend_group(group, lookups + from, links);
    for (uint32_t i = 0; i < group; ++i) {
      KeydromeLookup& one = lookups[from + i];
      const auto* key = static_cast<const uint8_t*>(one.key.data);
      one.found = links[i].is_node()
                      ? find_spread(Pair::of(one.key, {nullptr, 0}), false, one.payload)
                      : find_in(links[i], key, one.key.size, one.payload);
    }
  }
}

// A key is *spread* if its payloads are in several leaves and pages. While the search visits them,
// another thread could add one payload and delete another. The search could then find a payload
// that was never the smallest one. So the search starts again if another thread has changed the key
// meanwhile. After kTrials attempts the search takes the lock of the key (key_lock.h). Without the
// lock, the search might never end while writers change the key again and again.
int Tree::find_spread(const Pair& probe, bool after, KeydromeBuffer& payload) const {
  constexpr uint32_t kTrials = 8;
  for (uint32_t trial = 0; trial < kTrials; ++trial) {
    const uint64_t state = key_locks_.begin(probe);
    const int result = find_one(probe, after, payload);
    if (key_locks_.is_unchanged(probe, state)) return result;
  }
  const KeyLocks::Held held(key_locks_, probe);
  return find_one(probe, after, payload);
}

// Finds one pair in the same way as a scan that ends after one pair.
int Tree::find_one(const Pair& probe, bool after, KeydromeBuffer& payload) const {
  Walk walk(root_, probe, after);
  for (Stretch stretch; walk.collect(&stretch, 1, 1) > 0;) {
    const Pairs pairs(stretch.link);
    const uint32_t from = walk.first_in(stretch, pairs);
    const uint32_t live = from < kPagePairs ? pairs.live() >> from << from : 0;
    if (live == 0) continue;
    const Pair pair = pairs[static_cast<uint32_t>(std::countr_zero(live))];
    return has_key(pair, probe.key, probe.key_size) ? copy_payload(pair, payload) : 0;
  }
  return 0;
}

}  // namespace keydrome::art
