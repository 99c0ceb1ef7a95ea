// The tables of functions of contract B, the interface of a data structure (keydrome/structure.h),
// one for each kind of processor. Use a table only if this processor can execute its functions.
#pragma once

#include "keydrome/structure.h"

namespace keydrome::btree {

// For any processor.
extern const KeydromeStructureTable* const kTablePlain;
// For x86-64 processors with AVX2, BMI1 and BMI2. nullptr if the compiler targets other processors.
extern const KeydromeStructureTable* const kTableAvx2;
// Like kTableAvx2, but the processor must also have AVX-512F and AVX-512BW.
extern const KeydromeStructureTable* const kTableAvx512;

// Return true if this processor and its operating system can execute the table.
bool can_use_avx2();
bool can_use_avx512();

}  // namespace keydrome::btree
