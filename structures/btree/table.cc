// Exports the B+-tree through contract B, the interface of a data structure (keydrome/structure.h).
// Chooses the table of functions for this processor (tables.h).
#include "keydrome/structure.h"
#include "structures/btree/tables.h"

namespace keydrome::btree {

#if defined(__x86_64__)
bool can_use_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("popcnt") != 0;
}
bool can_use_avx512() {
  return can_use_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0;
}
#else
bool can_use_avx2() { return false; }
bool can_use_avx512() { return false; }
#endif

}  // namespace keydrome::btree

const KeydromeStructureTable* keydrome_structure(void) {
  using namespace keydrome::btree;
  if (can_use_avx512()) return kTableAvx512;
  return can_use_avx2() ? kTableAvx2 : kTablePlain;
}
