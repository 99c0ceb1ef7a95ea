// Exports the prefix tree through contract B, the interface of a data structure
// (keydrome/structure.h).
#include "keydrome/structure_class.h"
#include "structures/prefix_tree/tree.h"

namespace {

constexpr KeydromeStructureTable kTable = keydrome::structure_table<keydrome::prefix_tree::Tree>({
    .name = "prefix_tree",
    .description = "Prefix tree with a stride of 8 bits that skips common symbols",
    .capabilities = KEYDROME_SHARED_READS,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
