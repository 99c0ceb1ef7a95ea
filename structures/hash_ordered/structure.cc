// Exports the ordered hash table through contract B, the interface of a data structure
// (keydrome/structure.h).
#include "keydrome/structure_class.h"
#include "structures/hash_ordered/ordered_hash.h"

namespace {

constexpr KeydromeStructureTable kTable =
    keydrome::structure_table<keydrome::hash_ordered::OrderedHash>({
        .name = "hash_ordered",
        .description = "hash table whose buckets are in the order of the keys",
        .capabilities = KEYDROME_SHARED_READS,
    });

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
