// The tables of functions of contract B, the interface of a data structure (keydrome/structure.h),
// one for each kind of processor.
#pragma once

#include "keydrome/structure.h"

namespace keydrome::csb {

// For any processor.
extern const KeydromeStructureTable* const kTablePlain;
// Use this table only if can_use_avx512() returns true.
extern const KeydromeStructureTable* const kTableAvx512;

// Returns true if this processor and its operating system have AVX-512.
bool can_use_avx512();

}  // namespace keydrome::csb
