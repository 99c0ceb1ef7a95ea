// SearchAvx2: the search of search/plain.h with AVX2. Include it only where the compiler may use
// AVX2 (table_avx2.cc).
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "structures/btree_olc/node.h"

namespace keydrome::btree_olc {

struct SearchAvx2 {
  static constexpr const char* kDescription =
      "B+-tree with optimistic lock coupling; searches nodes with AVX2";

  template <bool or_equal>
  [[gnu::always_inline]] static uint32_t group_of(const Node& node, uint64_t head) {
    // The mask leaves out the first two words of this cache line, which are before the summary
    // (node.h).
    const uint32_t low = below<or_equal>(node.summary - 2, wanted(head)) & 0xCu;
    return ones(low | below<or_equal>(node.summary + 2, wanted(head)) << 4);
  }
  template <bool or_equal>
  [[gnu::always_inline]] static uint32_t below_in(const Node& node, uint32_t group, uint64_t head) {
    const uint64_t* heads = node.heads + 8 * group;
    const uint32_t low = below<or_equal>(heads, wanted(head));
    return ones(low | below<or_equal>(heads + 4, wanted(head)) << 4);
  }

 private:
  static constexpr long long kSign = INT64_MIN;

  // AVX2 compares signed numbers only. Flipping the sign bits gives the unsigned order.
  [[gnu::always_inline]] static __m256i wanted(uint64_t head) {
    return _mm256_set1_epi64x(static_cast<long long>(head) ^ kSign);
  }
  [[gnu::always_inline]] static uint32_t ones(uint32_t mask) {
    return static_cast<uint32_t>(__builtin_popcount(mask));
  }
  // Returns a mask of four bits: bit i is 1 if number i is < `wanted`, or <= `wanted` if
  // `or_equal`.
  template <bool or_equal>
  [[gnu::always_inline]] static uint32_t below(const uint64_t* from, __m256i wanted) {
    const __m256i raw = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i numbers = _mm256_xor_si256(raw, _mm256_set1_epi64x(kSign));
    if constexpr (or_equal) {
      return ~mask_of(_mm256_cmpgt_epi64(numbers, wanted)) & 0xFu;
    } else {
      return mask_of(_mm256_cmpgt_epi64(wanted, numbers));
    }
  }
  [[gnu::always_inline]] static uint32_t mask_of(__m256i lanes) {
    return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)));
  }
};

}  // namespace keydrome::btree_olc
