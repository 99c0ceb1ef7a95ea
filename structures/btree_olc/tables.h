// The tables of functions, one for each kind of processor. Only those that the processor can
// execute may be called.
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
// For x86-64 with AVX2 and popcnt, or with AVX-512 F besides. nullptr if the compiler makes code for
// another kind of processor, or for ThreadSanitizer, which knows races between words only.
extern const KeydromeStructureTable* const kTableAvx2;
extern const KeydromeStructureTable* const kTableAvx512;

// Returns whether this processor and its operating system can execute the table.
bool can_use_avx2();
bool can_use_avx512();

}  // namespace keydrome::btree_olc
