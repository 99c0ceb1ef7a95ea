// Exports the cache-conscious tree through contract B, the interface of a data structure
// (keydrome/structure.h).
#include "keydrome/structure_class.h"
#include "structures/csb/tree.h"

namespace {

constexpr KeydromeStructureTable kTable = keydrome::structure_table<keydrome::csb::Tree>({
    .name = "csb",
    .description = "CSS-tree over linked leaves, with pending splits and periodic rebuilds",
    .capabilities = KEYDROME_SHARED_READS,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
