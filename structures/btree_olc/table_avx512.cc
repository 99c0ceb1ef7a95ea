// The table of functions for x86-64 processors with AVX-512. What follows the pragma below is
// compiled for these processors only. Inline functions that other files also compile must be
// declared before the pragma. Otherwise the linker may keep their copy from this file, which other
// processors cannot execute.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "structures/btree_olc/leaf.h"
#include "structures/btree_olc/position.h"
#include "structures/btree_olc/seen.h"
#include "structures/btree_olc/tables.h"
#include "structures/btree_olc/tree.h"

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,popcnt,avx512f"))), apply_to = function)
#else
#pragma GCC target("avx2,popcnt,avx512f")
#endif
#include "structures/btree_olc/changes.h"
#include "structures/btree_olc/search/avx512.h"
#endif

namespace keydrome::btree_olc {

#if defined(__x86_64__)
namespace {

constexpr KeydromeStructureTable kAvx512 = table_of<Tree<SearchAvx512>, SearchAvx512>();

}  // namespace

const KeydromeStructureTable* const kTableAvx512 = &kAvx512;
#else
const KeydromeStructureTable* const kTableAvx512 = nullptr;
#endif

}  // namespace keydrome::btree_olc

#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
