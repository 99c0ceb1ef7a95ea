// Exports the fingerprinting B+-tree through contract B, the interface of a data structure
// (keydrome/structure.h).
#include "keydrome/structure_class.h"
#include "structures/fptree/tree.h"

namespace {

constexpr KeydromeStructureTable kTable = keydrome::structure_table<keydrome::fptree::Tree>({
    .name = "fptree",
    .description = "B+-tree with unsorted leaves that are searched by fingerprints",
    .capabilities = KEYDROME_SHARED_READS,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
