// Exports the T-tree through contract B, the interface of a data structure (keydrome/structure.h).
#include "keydrome/structure_class.h"
#include "structures/ttree/tree.h"

namespace {

constexpr KeydromeStructureTable kTable = keydrome::structure_table<keydrome::ttree::Tree>({
    .name = "ttree",
    .description = "T-tree: a balanced binary tree with up to 64 keys in a node",
    .capabilities = KEYDROME_SHARED_READS,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
