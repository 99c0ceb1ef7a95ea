// The table of functions for x86-64 processors with AVX2. What follows the pragma below is compiled
// for these processors only. Inline functions that other files also compile must be declared before
// the pragma. Otherwise the linker may keep their copy from this file, which other processors
// cannot execute.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "structures/btree/bytes.h"
#include "structures/btree/fixed/build.h"
#include "structures/btree/memory.h"
#include "structures/btree/payloads.h"
#include "structures/btree/tables.h"
#include "structures/btree/text/check.h"
#include "structures/btree/value.h"

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif
#include "structures/btree/functions.h"
#include "structures/btree/search/avx2.h"
#endif

namespace keydrome::btree {

#if defined(__x86_64__)
const KeydromeStructureTable* const kTableAvx2 = &Functions<SearchAvx2>::kTable;
#else
const KeydromeStructureTable* const kTableAvx2 = nullptr;
#endif

}  // namespace keydrome::btree

#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
