// The tables of functions of contract B, the interface of a data structure (keydrome/structure.h),
// one for each kind of processor. Use a table only if this processor can execute its functions.
#pragma once

#include "keydrome/structure_class.h"

namespace keydrome::btree_olc {

template <class Tree, class Search>
constexpr KeydromeStructureTable table_of() {
  return structure_table<Tree>({
      .name = "btree_olc",
      .description = Search::kDescription,
      .capabilities = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE,
  });
}

// For any processor.
extern const KeydromeStructureTable* const kTablePlain;
// For x86-64 processors with AVX2 and popcnt; kTableAvx512 also needs AVX-512F. Both are nullptr if
// the compiler targets other processors.
extern const KeydromeStructureTable* const kTableAvx2;
extern const KeydromeStructureTable* const kTableAvx512;

// Return true if this processor and its operating system can execute the table. Return false under
// ThreadSanitizer, which would report the vector loads as races.
bool can_use_avx2();
bool can_use_avx512();

}  // namespace keydrome::btree_olc
