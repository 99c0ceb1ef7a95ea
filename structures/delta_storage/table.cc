// Exports the delta storage through contract B, the interface of a data structure
// (keydrome/structure.h).
#include "keydrome/structure_class.h"
#include "structures/delta_storage/tree.h"

namespace {

constexpr KeydromeStructureTable kTable = keydrome::structure_table<keydrome::delta_storage::Tree>({
    .name = "delta_storage",
    .description = "unsorted dictionary of pairs, and a B+-tree of their numbers",
    .capabilities = KEYDROME_SHARED_READS | KEYDROME_ELIDABLE,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
