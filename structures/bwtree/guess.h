// Estimates where a key is in a leaf, before the leaf has been read. The parent has the lower and
// the upper bound of the leaf. The *share* of a key is its distance from the lower bound, where
// kShares is the distance from the lower to the upper bound. If keys are spread evenly, the pairs
// of the leaf that are smaller than the key make up share / kShares of all its pairs. So a search
// prefetches only the cache lines around this place, while it waits for the newest delta (page.h).
//
// Source: W. Peterson, "Addressing for Random-Access Storage", IBM Journal 1957 (interpolation). A
// wrong estimate costs time, but the result of the search is right.
//
// Thread safety: pure functions. Hints are atomic.
#pragma once

#include <algorithm>
#include <cstdint>

#include "structures/bwtree/page.h"

namespace keydrome::bwtree {

inline constexpr uint32_t kShares = 1u << 16;
// The share of a key if the search knows no bounds: the middle of the leaf.
inline constexpr uint32_t kShareUnknown = kShares / 2;

// Halves the numbers, because the processor converts signed numbers faster than unsigned ones. The
// result is in the range even if the head is not between the bounds.
inline uint32_t share_of(uint64_t low, uint64_t head, uint64_t high) {
  const auto part = static_cast<double>(static_cast<int64_t>((head - low) >> 1));
  const auto whole = static_cast<double>(static_cast<int64_t>((high - low) >> 1 | 1));
  return static_cast<uint32_t>(std::min(part / whole, 1.0) * kShares);
}

// The pairs of a page of numbers (page.h) around the estimated place. If keys are random, a key is
// outside of its window in about one search of forty.
struct Window {
  static constexpr uint32_t kPairs = 15;

  uint32_t begin;

  Window(uint32_t count, uint32_t share) {
    const uint32_t middle = count * share / kShares;
    const uint32_t last = count < kPairs ? 0 : count - kPairs;
    begin = std::min(middle < kPairs / 2 ? 0 : middle - kPairs / 2, last);
  }
};

// Slot::hint (page.h) contains the address of a base and its number of pairs. The number kNoNumbers
// means that the base is not a page of numbers.
inline constexpr uint32_t kNoNumbers = 0xFF;
static_assert(kPairsMax + kDeltasMax < kNoNumbers);

inline uint64_t hint_of(const Base& base) {
  return reinterpret_cast<uintptr_t>(&base) << 8 | (base.has_numbers ? base.count : kNoNumbers);
}

// Prefetches `lines` cache lines.
template <uint32_t lines>
[[gnu::always_inline]] inline void ask_lines(uintptr_t from) {
  constexpr uint32_t kLine = 64;
#pragma GCC unroll 16
  for (uint32_t line = 0; line < lines; ++line) {
    __builtin_prefetch(reinterpret_cast<const char*>(from + uintptr_t{kLine} * line));
  }
}

// Prefetches the beginning of a base: usually all heads, and most values or offsets.
[[gnu::always_inline]] inline void ask(const Base& base) {
  ask_lines<16>(reinterpret_cast<uintptr_t>(&base));
}

// Prefetches what a search with this share usually reads in the leaf. The base may have been freed,
// because a prefetch never faults.
[[gnu::always_inline]] inline void ask(const Slot& slot, uint32_t share) {
  const uint64_t hint = slot.hint.load(std::memory_order_relaxed);
  const uintptr_t base = hint >> 8;
  const uint32_t count = hint & 0xFF;
  if (count == kNoNumbers) {
    ask_lines<16>(base);
    return;
  }
  // The window and the pairs on both sides of it.
  constexpr uint32_t kLines = (Window::kPairs + 2) * Base::kNumber / 64 + 1;
  const uintptr_t at = base + sizeof(Base) + uintptr_t{Base::kNumber} * Window(count, share).begin;
  ask_lines<1>(base);
  ask_lines<kLines>(at - Base::kNumber);
}

}  // namespace keydrome::bwtree
