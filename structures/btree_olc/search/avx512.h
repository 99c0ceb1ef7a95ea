// SearchAvx512: the search of search/plain.h with AVX-512. Include it only where the compiler may
// use AVX-512 (table_avx512.cc).
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "structures/btree_olc/node.h"

namespace keydrome::btree_olc {

struct SearchAvx512 {
  static constexpr const char* kDescription =
      "B+-tree with optimistic lock coupling; searches nodes with AVX-512";

  template <bool or_equal>
  [[gnu::always_inline]] static uint32_t group_of(const Node& node, uint64_t head) {
    // The mask leaves out the first two words of this cache line, which are before the summary
    // (node.h).
    return below<or_equal>(0xFC, node.summary - 2, head);
  }
  template <bool or_equal>
  [[gnu::always_inline]] static uint32_t below_in(const Node& node, uint32_t group, uint64_t head) {
    return below<or_equal>(0xFF, node.heads + 8 * group, head);
  }

 private:
  template <bool or_equal>
  [[gnu::always_inline]] static uint32_t below(__mmask8 lanes, const uint64_t* from,
                                               uint64_t head) {
    const __m512i wanted = _mm512_set1_epi64(static_cast<long long>(head));
    const __m512i numbers = _mm512_load_si512(from);
    const __mmask8 mask = or_equal ? _mm512_mask_cmple_epu64_mask(lanes, numbers, wanted)
                                   : _mm512_mask_cmplt_epu64_mask(lanes, numbers, wanted);
    return static_cast<uint32_t>(__builtin_popcount(mask));
  }
};

}  // namespace keydrome::btree_olc
