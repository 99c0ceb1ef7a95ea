// SearchAvx2: the searches of search_plain.h with AVX2. Include it only where the compiler may use
// AVX2 (table_avx2.cc).
#pragma once

#include <immintrin.h>

#include "structures/btree/search_plain.h"

namespace keydrome::btree {

struct SearchAvx2 : SearchPlain {
  static constexpr const char* kDescription = "B+-tree; searches nodes with AVX2";
  static constexpr long long kSign = INT64_MIN;

  // AVX2 compares signed numbers only. Flipping the sign bits gives the unsigned order.
  KEYDROME_HOT __m256i flipped(uint64_t key) {
    return _mm256_set1_epi64x(static_cast<long long>(key) ^ kSign);
  }
  KEYDROME_HOT __m256i load(const uint64_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  // Returns a mask of the four numbers that are > `key`, or >= `key`.
  template <bool or_equal>
  KEYDROME_HOT uint32_t above(__m256i numbers, __m256i key) {
    numbers = _mm256_xor_si256(numbers, _mm256_set1_epi64x(kSign));
    if constexpr (or_equal) {
      return ~mask_of(_mm256_cmpgt_epi64(key, numbers)) & 0xFu;
    } else {
      return mask_of(_mm256_cmpgt_epi64(numbers, key));
    }
  }
  KEYDROME_HOT uint32_t mask_of(__m256i lanes) {
    return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)));
  }
  // Returns the number of low bits before the first one of `mask`, at most 8.
  KEYDROME_HOT uint32_t leading(uint32_t mask) {
    return static_cast<uint32_t>(__builtin_ctz(mask | 0x100u));
  }

  KEYDROME_HOT uint32_t summary_at_most(const uint64_t* summary, uint64_t key) {
    const __m256i wanted = flipped(key);
    const uint32_t low = above<false>(load(summary), wanted);
    const uint32_t high = above<false>(load(summary + 4), wanted) & 7u;  // the eighth is no key
    return 7 - static_cast<uint32_t>(__builtin_popcount(low | high << 4));
  }

  template <bool or_equal>
  KEYDROME_HOT uint32_t pairs_below(const Pair* pairs, uint64_t key, uint32_t) {
    const __m256i wanted = flipped(key);
    const auto keys = [&](uint32_t i) __attribute__((always_inline)) {
      const __m256i mixed = _mm256_unpacklo_epi64(load(&pairs[i].key), load(&pairs[i + 2].key));
      return _mm256_permute4x64_epi64(mixed, 0xD8);
    };
    return leading(above<!or_equal>(keys(0), wanted) | above<!or_equal>(keys(4), wanted) << 4);
  }

  template <bool or_equal>
  KEYDROME_HOT uint32_t heads_below(const uint64_t* heads, uint64_t key) {
    const __m256i wanted = flipped(key);
    return leading(above<!or_equal>(load(heads), wanted) | above<!or_equal>(load(heads + 4), wanted)
                                                               << 4);
  }

  KEYDROME_HOT uint64_t match(const uint8_t* tags, uint8_t tag) {
    const __m256i wanted = _mm256_set1_epi8(static_cast<char>(tag));
    const auto half = [&](const uint8_t* from) __attribute__((always_inline)) {
      const __m256i bytes = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
      return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, wanted)));
    };
    return half(tags) | uint64_t{half(tags + 32)} << 32;
  }
};

}  // namespace keydrome::btree
