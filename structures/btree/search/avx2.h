// SearchAvx2: the searches of search/plain.h with AVX2. Include it only where the compiler may use
// AVX2 (table_avx2.cc).
#pragma once

#include <immintrin.h>

#include "structures/btree/search/plain.h"

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
  // Returns a mask of four bits: bit i is 1 if number i is >= `key`, or > `key` if `or_equal`.
  template <bool or_equal>
  KEYDROME_HOT uint32_t not_below(__m256i numbers, __m256i key) {
    numbers = _mm256_xor_si256(numbers, _mm256_set1_epi64x(kSign));
    if constexpr (or_equal) {
      return mask_of(_mm256_cmpgt_epi64(numbers, key));
    } else {
      return ~mask_of(_mm256_cmpgt_epi64(key, numbers)) & 0xFu;
    }
  }
  KEYDROME_HOT uint32_t mask_of(__m256i lanes) {
    return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)));
  }
  KEYDROME_HOT uint32_t summary_at_most(const uint64_t* summary, uint64_t key) {
    const __m256i wanted = flipped(key);
    const uint32_t low = not_below<true>(load(summary), wanted);
    // The mask leaves out the eighth number. The summary (search/plain.h) has only seven numbers.
    const uint32_t high = not_below<true>(load(summary + 4), wanted) & 7u;
    return 7 - static_cast<uint32_t>(__builtin_popcount(low | high << 4));
  }

  template <bool or_equal>
  KEYDROME_HOT uint32_t pairs_below(const Pair* pairs, uint64_t key) {
    const __m256i wanted = flipped(key);
    // Unpacking changes the order of the keys. This does not matter, because they are only counted.
    const __m256i low = _mm256_unpacklo_epi64(load(&pairs[0].key), load(&pairs[2].key));
    const __m256i high = _mm256_unpacklo_epi64(load(&pairs[4].key), load(&pairs[6].key));
    return number_below<or_equal>(low, high, wanted);
  }

  template <bool or_equal>
  KEYDROME_HOT uint32_t heads_below(const uint64_t* heads, uint64_t key) {
    return number_below<or_equal>(load(heads), load(heads + 4), flipped(key));
  }

  template <bool or_equal>
  KEYDROME_HOT uint32_t number_below(__m256i low, __m256i high, __m256i key) {
    const uint32_t above = not_below<or_equal>(low, key) | not_below<or_equal>(high, key) << 4;
    return 8 - static_cast<uint32_t>(__builtin_popcount(above));
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
