// Implements Tree::replace of the adaptive radix tree, which replaces one payload of a key. A
// *spread* key has its payloads in several leaves and pages.
#include "structures/art/build.h"
#include "structures/art/tree.h"

namespace keydrome::art {

int Tree::replace(const Pair& before, const Pair& now) {
  return change(before, [&](bool alone) { return try_replace(before, now, alone); });
}

// Replaces the pair in one leaf or page. If the key is not spread, this leaf or page has all pairs
// of the key. So one store of a new leaf or page removes the old pair and adds the new one.
int Tree::try_replace(const Pair& before, const Pair& now, bool alone) {
  Found found;
  if (!find_pair(before, found)) return 0;
  if (found.place.depth > before.key_size) {
    return alone ? replace_spread(before, now) : kSpread;
  }
  const Held owner(*found.place.owner);
  if (!owner || found.place.slot->load() != found.link) return kRetry;
  const Pairs pairs(found.link);
  const uint32_t live = pairs.live();
  if ((live >> found.index & 1) == 0) return kRetry;
  const Pairs::Rank rank = pairs.rank(now);
  if (rank.exact && (live >> rank.index & 1) != 0) return 2;
  PairList list;
  const uint32_t others = live & ~(uint32_t{1} << found.index);
  list.add_live(found.link, others, 0, rank.index);
  list.add(now);
  list.add_live(found.link, others, rank.index, pairs.count());
  const Link fresh = make_pairs(memory_, list.pairs, list.count);
  if (fresh.is_none()) return KEYDROME_NO_MEMORY;
  found.place.slot->store(fresh);
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
