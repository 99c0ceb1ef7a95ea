// Exports the hash table through contract B, the interface of a data structure
// (keydrome/structure.h).
#include "keydrome/structure_class.h"
#include "structures/hash/table.h"

namespace {

constexpr KeydromeStructureTable kTable = keydrome::structure_table<keydrome::hash::Table>({
    .name = "hash",
    .description = "concurrent hash table with buckets of one cache line, which grows by splitting",
    .capabilities = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE | KEYDROME_UNORDERED,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
