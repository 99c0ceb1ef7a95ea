// Implements search.h, searches in a base, which has sorted pairs. Implements contains() of page.h,
// a search in a leaf with deltas, which are changes since the base was made.
#include "structures/bwtree/search.h"

#include <algorithm>

namespace keydrome::bwtree {
namespace {

// Returns how many of `count` ascending heads are smaller than `head`. `head_at` returns a head.
// Compares with three heads at once, so that the processor waits for half as many results as in a
// binary search. The loop over quarters has no branch that depends on heads, because the processor
// could not predict it.
template <class HeadAt>
[[gnu::always_inline]] inline uint32_t heads_below(uint32_t count, uint64_t head,
                                                   const HeadAt& head_at) {
  uint32_t at = 0;
  uint32_t left = count;
  while (left > 3) {
    const uint32_t quarter = left / 4;
    const uint32_t smaller = (head_at(at + quarter - 1) < head) +
                             (head_at(at + 2 * quarter - 1) < head) +
                             (head_at(at + 3 * quarter - 1) < head);
    at += smaller * quarter;
    left -= 3 * quarter;
  }
  uint32_t below = at;
  for (uint32_t i = 0; i < left; ++i) below += head_at(at + i) < head ? 1 : 0;
  return below;
}

uint32_t heads_below(const Base& base, uint64_t head, uint32_t share) {
  // If `head` is larger than the upper bound, the search also counts unused heads. Hence the
  // minimum.
  if (base.level > 0) return std::min(inner_heads_below(base, head), base.count);
  if (base.has_numbers) return numbers_below(base, head, share);
  return heads_below(base.count, head, [&](uint32_t i) { return base.heads()[i]; });
}

// Returns < 0, 0 or > 0 if the probe's key is smaller than all keys with the prefix of the base,
// has this prefix, or is larger.
int compare_prefix(const Base& base, const Probe& probe) {
  const std::string_view prefix = base.pair(0).key.substr(0, base.prefix);
  const int order = probe.key.substr(0, base.prefix).compare(prefix);
  return order == 0 && probe.key.size() < base.prefix ? -1 : order;
}

}  // namespace

uint32_t all_numbers_below(const Base& base, uint64_t head) {
  ask(base);
  return heads_below(base.count, head, [&](uint32_t i) { return load_big(base.number(i)); });
}

uint32_t pairs_before(const Base& base, const Probe& probe, bool with_equal, uint32_t share) {
  uint64_t head = probe.head;
  if (base.prefix > 0) {
    const int order = compare_prefix(base, probe);
    if (order != 0) return order < 0 ? 0 : base.count;
    head = load_head(reinterpret_cast<const uint8_t*>(probe.key.data()),
                     static_cast<uint32_t>(probe.key.size()), base.prefix);
  }
  uint32_t low = heads_below(base, head, share);
  if (low == base.count || base.head(low) != head) return low;
  uint32_t high = low + 1;
  if (high < base.count && base.head(high) == head) {
    high = head == ~uint64_t{0} ? base.count : heads_below(base, head + 1, share);
  }
  const int most = with_equal ? 0 : -1;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (compare(base.pair(middle), probe) <= most) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool contains(const Page& leaf, const Probe& pair, uint32_t share) {
  const Page* page = &leaf;
  if (page->kind != Kind::kBase && !delta(*page).may_have(pair.head)) page = delta(*page).base;
  for (; page->kind != Kind::kBase; page = delta(*page).next) {
    const Delta& change = delta(*page);
    if (change.head == pair.head && compare(change.pair(), pair) == 0) {
      return change.kind == Kind::kInsert;
    }
  }
  const Base& all = base(*page);
  const uint32_t at = pairs_before(all, pair, false, share);
  return at < all.count && compare(all.pair(at), pair) == 0;
}

}  // namespace keydrome::bwtree
