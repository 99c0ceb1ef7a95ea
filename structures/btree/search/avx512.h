// SearchAvx512: the searches of search/plain.h with AVX-512. Include it only where the compiler may
// use AVX-512 (table_avx512.cc). Masked loads read only the bytes that the mask selects, so no
// function reads bytes after its input.
#pragma once

#include <immintrin.h>

#include "structures/btree/search/plain.h"

namespace keydrome::btree {

struct SearchAvx512 : SearchPlain {
  static constexpr const char* kDescription = "B+-tree; searches nodes with AVX-512";

  KEYDROME_HOT __m512i wanted(uint64_t key) {
    return _mm512_set1_epi64(static_cast<long long>(key));
  }
  KEYDROME_HOT uint64_t first(uint32_t bytes) { return _bzhi_u64(~uint64_t{0}, bytes); }
  KEYDROME_HOT uint32_t ones(uint32_t mask) {
    return static_cast<uint32_t>(__builtin_popcount(mask));
  }

  KEYDROME_HOT uint32_t summary_at_most(const uint64_t* summary, uint64_t key) {
    // The mask leaves out the eighth number. The summary (search/plain.h) has only seven numbers.
    return ones(_mm512_mask_cmple_epu64_mask(0x7F, _mm512_load_si512(summary), wanted(key)));
  }

  template <bool or_equal>
  KEYDROME_HOT uint32_t pairs_below(const Pair* pairs, uint64_t key) {
    // Compares keys and values, and ignores the results for values. This takes less time than
    // gathering the keys in one register.
    const uint32_t low = below<or_equal>(0x55, _mm512_load_si512(pairs), key);
    const uint32_t high = below<or_equal>(0x55, _mm512_load_si512(pairs + 4), key);
    return ones(low | high << 1);
  }

  template <bool or_equal>
  KEYDROME_HOT uint32_t heads_below(const uint64_t* heads, uint64_t key) {
    return ones(below<or_equal>(0xFF, _mm512_load_si512(heads), key));
  }

  template <bool or_equal>
  KEYDROME_HOT uint32_t below(__mmask8 lanes, __m512i numbers, uint64_t key) {
    return or_equal ? _mm512_mask_cmple_epu64_mask(lanes, numbers, wanted(key))
                    : _mm512_mask_cmplt_epu64_mask(lanes, numbers, wanted(key));
  }

  KEYDROME_HOT uint64_t match(const uint8_t* tags, uint8_t tag) {
    return _mm512_cmpeq_epi8_mask(_mm512_load_si512(tags),
                                  _mm512_set1_epi8(static_cast<char>(tag)));
  }

  KEYDROME_HOT uint32_t common(const uint8_t* a, const uint8_t* b, uint32_t size) {
    for (uint32_t at = 0; at < size; at += 64) {
      const uint64_t mask = first(std::min(size - at, 64u));
      const uint64_t differ = _mm512_cmpneq_epi8_mask(_mm512_maskz_loadu_epi8(mask, a + at),
                                                      _mm512_maskz_loadu_epi8(mask, b + at));
      if (differ != 0) return at + static_cast<uint32_t>(__builtin_ctzll(differ));
    }
    return size;
  }

  KEYDROME_HOT int compare(const uint8_t* a, const uint8_t* b, uint32_t size) {
    const uint32_t equal = common(a, b, size);
    return equal == size ? 0 : int{a[equal]} - int{b[equal]};
  }

  // Copies the first 64 bytes without a branch, because few keys are longer.
  KEYDROME_HOT void copy_loosely(uint8_t* to, const uint8_t* from, uint32_t size) {
    _mm512_storeu_si512(to, _mm512_maskz_loadu_epi8(first(std::min(size, 64u)), from));
    if (size <= 64) return;
    _mm512_storeu_si512(to + 64, _mm512_maskz_loadu_epi8(first(size - 64), from + 64));
  }
};

}  // namespace keydrome::btree
