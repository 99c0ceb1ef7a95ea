// Offers the tree through contract B (keydrome/structure.h).
#include "keydrome/structure_class.h"
#include "structures/btree_olc/tree.h"

namespace {

constexpr KeydromeStructureTable kTable = keydrome::structure_table<keydrome::btree_olc::Tree>({
    .name = "btree_olc",
    .description = "B+-tree with optimistic lock coupling",
    .capabilities = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
