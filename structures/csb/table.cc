// Exports the cache-conscious tree through contract B, the interface of a data structure
// (keydrome/structure.h). Chooses the table of functions for this processor (tables.h).
#include "keydrome/structure_class.h"
#include "structures/csb/tables.h"
#include "structures/csb/tree.h"
#include "structures/csb/tree_avx512.h"

namespace keydrome::csb {
namespace {

constexpr StructureFacts kFacts{
    .name = "csb",
    .description = "CSS-tree over linked leaves, with pending splits and periodic rebuilds",
    .capabilities = KEYDROME_SHARED_READS,
};
constexpr KeydromeStructureTable kPlain = structure_table<Tree>(kFacts);
constexpr KeydromeStructureTable kAvx512 = structure_table<TreeAvx512>(kFacts);

}  // namespace

const KeydromeStructureTable* const kTablePlain = &kPlain;
const KeydromeStructureTable* const kTableAvx512 = &kAvx512;

bool can_use_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("popcnt") != 0;
#else
  return false;
#endif
}

}  // namespace keydrome::csb

const KeydromeStructureTable* keydrome_structure(void) {
  using namespace keydrome::csb;
  return can_use_avx512() ? kTableAvx512 : kTablePlain;
}
