// SearchAvx512: the searches of search.h with AVX-512. Include it only where the compiler may use
// AVX-512 (tree_avx512.cc).
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "structures/csb/entry.h"

namespace keydrome::csb {

struct SearchAvx512 {
  [[gnu::always_inline]] static uint32_t at_most(const uint64_t* numbers, uint64_t number) {
    return ones(_mm512_cmple_epu64_mask(_mm512_load_si512(numbers), all(number)));
  }
  // Also loads the eighth number of the cache line, which the mask leaves out.
  [[gnu::always_inline]] static uint32_t group(const uint64_t* numbers, uint64_t number) {
    return ones(_mm512_mask_cmplt_epu64_mask(0x7F, _mm512_load_si512(numbers), all(number)));
  }
  // Compares heads and second words, and ignores the results for second words.
  [[gnu::always_inline]] static uint32_t below(const Entry* entries, uint64_t head) {
    const uint32_t low = _mm512_mask_cmplt_epu64_mask(0x55, _mm512_load_si512(entries), all(head));
    const uint32_t high =
        _mm512_mask_cmplt_epu64_mask(0x55, _mm512_load_si512(entries + 4), all(head));
    return ones(low | high << 1);
  }

 private:
  [[gnu::always_inline]] static __m512i all(uint64_t number) {
    return _mm512_set1_epi64(static_cast<long long>(number));
  }
  [[gnu::always_inline]] static uint32_t ones(uint32_t mask) {
    return static_cast<uint32_t>(__builtin_popcount(mask));
  }
};

}  // namespace keydrome::csb
