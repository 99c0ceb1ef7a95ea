// The tables of functions, one for each kind of processor. Only those that the processor can
// execute may be called.
#pragma once

#include "keydrome/structure.h"

namespace keydrome::btree {

// For any processor.
extern const KeydromeStructureTable* const kTablePlain;
// For x86-64 with AVX2, BMI1 and BMI2, or with AVX-512 F and BW besides. nullptr if the compiler
// makes code for another kind of processor.
extern const KeydromeStructureTable* const kTableAvx2;
extern const KeydromeStructureTable* const kTableAvx512;

// Returns whether this processor and its operating system can execute the table.
bool can_use_avx2();
bool can_use_avx512();

}  // namespace keydrome::btree
