// Implements tree_avx512.h. What follows the pragma below is compiled for x86-64 processors with
// AVX-512 only. Inline functions that other files also compile must be declared before the pragma.
// Otherwise the linker may keep their copy from this file, which other processors cannot execute.
#include "structures/csb/tree_avx512.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "structures/csb/directory.h"
#include "structures/csb/entry.h"
#include "structures/csb/leaf.h"
#include "structures/csb/record.h"
#include "structures/csb/search.h"

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx512f,popcnt")
#endif
#include "structures/csb/lookup.h"
#include "structures/csb/search_avx512.h"
#endif

namespace keydrome::csb {

#if defined(__x86_64__)
int TreeAvx512::find(KeydromeBytes key, KeydromeBytes after,
                     KeydromeBuffer& payload) const noexcept {
  return Lookup<SearchAvx512>::find(directory(), key, after, payload);
}

void TreeAvx512::find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
  Lookup<SearchAvx512>::find_batch(directory(), count, lookups);
}
#else
int TreeAvx512::find(KeydromeBytes key, KeydromeBytes after,
                     KeydromeBuffer& payload) const noexcept {
  return Tree::find(key, after, payload);
}

void TreeAvx512::find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
  Tree::find_batch(count, lookups);
}
#endif

}  // namespace keydrome::csb

#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
