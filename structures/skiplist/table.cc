// Exports the skip list through contract B, the interface of a data structure
// (keydrome/structure.h).
#include "keydrome/structure_class.h"
#include "structures/skiplist/list.h"

namespace {

constexpr KeydromeStructureTable kTable = keydrome::structure_table<keydrome::skiplist::List>({
    .name = "skiplist",
    .description = "concurrent skip list with lazy locks and reads that never wait",
    .capabilities = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
