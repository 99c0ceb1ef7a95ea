// Implements Tree::replace of the adaptive radix tree, which replaces one payload of a key. A
// *spread* key has its payloads in several leaves and pages.
#include "structures/art/build.h"
#include "structures/art/tree.h"

namespace keydrome::art {

int Tree::replace(const Pair& before, const Pair& now) {
  return change(before, [&](bool alone) { return try_replace(before, now, alone); });
}

// Replaces the pair in one leaf or page. If the key is not spread, this leaf or page has all pairs
// of the key. So one store, of a payload or of a new leaf or page, removes the old pair and adds
// the new one.
int Tree::try_replace(const Pair& before, const Pair& now, bool alone) {
  Found found;
  if (!find_pair(before, found)) return 0;
  if (found.place.depth > before.key_size) {
    return alone ? replace_spread(before, now) : kSpread;
  }
  const int result = found.link.kind() == Kind::kWords && is_word_pair(now)
                         ? replace_in_words(found, before, now)
                         : kCopy;
  return result == kCopy ? replace_in_copy(found, before, now) : result;
}

// Replaces the payload in place. Returns kCopy if another slot of the page has the same key.
int Tree::replace_in_words(const Found& found, const Pair& before, const Pair& now) {
  const Words words(found.link);
  const Held held(words.lock());
  if (!held || !has_payload(found.link, found.bit, before)) return kRetry;
  if (words.slot_of(now) != Words::kNoSlot) return 2;
  if (!words.is_only_slot_of_key(found.bit)) return kCopy;
  words.set_payload(found.bit, word_at(now.payload));
  return 1;
}

// Replaces the leaf or page by a changed copy, or the payload of a word leaf (pairs.h) in place.
int Tree::replace_in_copy(const Found& found, const Pair& before, const Pair& now) {
  const Held owner(*found.place.owner);
  if (!owner || found.place.slot->load() != found.link) return kRetry;
  HeldPage held(found.link);
  if (!has_payload(found.link, found.bit, before)) return kRetry;
  const bool same_size = now.payload_size == before.payload_size;
  if (same_size && equal_bytes(now.payload, before.payload, now.payload_size)) return 2;
  if (is_word_leaf(found.link) && same_size) {
    word_payload(found.link).store(word_at(now.payload), std::memory_order_release);
    return 1;
  }
  PairList list;
  list.append(found.link, live_of(found.link) & ~(uint32_t{1} << found.bit));
  if (!list.insert(now)) return 2;
  const Link fresh = make_pairs(memory_, list.pairs, list.count);
  if (fresh.is_none()) return KEYDROME_NO_MEMORY;
  found.place.slot->store(fresh);
  held.make_obsolete();
  memory_.drop(found.link);
  return 1;
}

// Inserts the new pair and then deletes the old one. The caller holds the key lock, so no other
// thread changes pairs of this key, and readers of its payloads wait. Other threads may still
// change nodes above these pairs. The insertion or the deletion then returns kRetry and is
// repeated.
int Tree::replace_spread(const Pair& before, const Pair& now) {
  int result = kRetry;
  for (Wait wait; (result = try_put(now, true)) == kRetry;) wait.once();
  if (result != 1) return result == 0 ? 2 : result;
  for (Wait wait; try_del(before, true) == kRetry;) wait.once();
  return 1;
}

}  // namespace keydrome::art
