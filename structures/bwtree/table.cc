// Exports the Bw-tree through contract B, the interface of a data structure (keydrome/structure.h).
#include "keydrome/structure_class.h"
#include "structures/bwtree/tree.h"

namespace {

constexpr KeydromeStructureTable kTable = keydrome::structure_table<keydrome::bwtree::Tree>({
    .name = "bwtree",
    .description = "Bw-tree: changes of leaves are deltas, made visible by compare-and-swap",
    .capabilities = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
