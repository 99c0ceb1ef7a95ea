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
  __attribute__((always_inline)) static uint32_t heads_below(const Node& node, uint64_t head) {
    const __m512i wanted = _mm512_set1_epi64(static_cast<long long>(head));
    // The first two words of the node are no heads.
    const uint32_t group = below<or_equal>(0xFC, node.summary - 2, wanted);
    return 8 * group + below<or_equal>(0xFF, node.heads + 8 * group, wanted);
  }

 private:
  template <bool or_equal>
  __attribute__((always_inline)) static uint32_t below(__mmask8 lanes, const uint64_t* from,
                                                       __m512i wanted) {
    const __m512i numbers = _mm512_load_si512(from);
    const __mmask8 mask = or_equal ? _mm512_mask_cmple_epu64_mask(lanes, numbers, wanted)
                                   : _mm512_mask_cmplt_epu64_mask(lanes, numbers, wanted);
    return static_cast<uint32_t>(__builtin_popcount(mask));
  }
};

}  // namespace keydrome::btree_olc
