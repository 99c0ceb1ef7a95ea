// Searches in a base, the sorted pairs of a page (page.h).
#pragma once

#include <cstdint>

#include "structures/bwtree/guess.h"
#include "structures/bwtree/page.h"

namespace keydrome::bwtree {

// Returns the number of pairs of a base that are before the position. If `with_equal` is true, also
// counts a pair for which compare() with the position returns 0 (pair.h). `share` is the estimated
// place of the position in a leaf (guess.h), and only affects the speed.
uint32_t pairs_before(const Base& base, const Probe& probe, bool with_equal,
                      uint32_t share = kShareUnknown);

// Returns how many keys of a page of numbers are smaller than `head`. Searches the whole page.
uint32_t all_numbers_below(const Base& base, uint64_t head);

// Like all_numbers_below(), but first compares with the keys near the place that `share` gives.
// These keys are in the cache, because they have been prefetched (guess.h).
[[gnu::always_inline]] inline uint32_t numbers_below(const Base& base, uint64_t head,
                                                     uint32_t share) {
  const auto is_below = [&](uint32_t i) { return load_big(base.number(i)) < head; };
  const uint32_t begin = Window(base.count, share).begin;
  const uint32_t end = begin + Window::kPairs;
  if (end > base.count || (begin > 0 && !is_below(begin - 1)) ||
      (end < base.count && is_below(end))) {
    return all_numbers_below(base, head);
  }
  static_assert(Window::kPairs == 15);
  const auto below = [&](uint32_t i) { return is_below(i) ? 1u : 0u; };
  const uint32_t at = begin + 4 * (below(begin + 3) + below(begin + 7) + below(begin + 11));
  return at + below(at) + below(at + 1) + below(at + 2);
}

// Returns the number of heads of an inner page that are smaller than `head`. Three steps compare
// with 3, 3 and 6 heads. No loop or branch depends on the heads, because the processor would often
// predict it wrongly. Each wrong prediction would discard work that the processor has begun in
// advance, such as the next search.
[[gnu::always_inline]] inline uint32_t inner_heads_below(const Base& inner, uint64_t head) {
  constexpr uint32_t kFirst = 24;
  constexpr uint32_t kSecond = 6;
  static_assert(kPairsMax == 4 * kFirst && kFirst == 4 * kSecond);
  const uint64_t* heads = inner.heads();
  const auto below = [&](uint32_t i) { return heads[i] < head ? 1u : 0u; };
  uint32_t at = kFirst * (below(kFirst - 1) + below(2 * kFirst - 1) + below(3 * kFirst - 1));
  at += kSecond *
        (below(at + kSecond - 1) + below(at + 2 * kSecond - 1) + below(at + 3 * kSecond - 1));
  return at + below(at) + below(at + 1) + below(at + 2) + below(at + 3) + below(at + 4) +
         below(at + 5);
}

// Returns the child that has the pairs after the position. REQUIRES: the page is an inner one, and
// the position is before its upper bound.
inline uint32_t child_index(const Base& inner, const Probe& probe) {
  uint32_t before = 0;
  if (inner.prefix == 0) {
    before = inner_heads_below(inner, probe.head);
    if (inner.heads()[before] == probe.head) before = pairs_before(inner, probe, true);
  } else {
    before = pairs_before(inner, probe, true);
  }
  return before == 0 ? 0 : before - 1;
}

}  // namespace keydrome::bwtree
