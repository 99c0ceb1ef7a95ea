// Exports Abseil's B-tree through contract B, the interface of a data structure
// (keydrome/structure.h).
#include <absl/container/btree_set.h>

#include "keydrome/structure_class.h"
#include "structures/absl_btree/pool.h"
#include "structures/common/sorted_pairs.h"

namespace {

constexpr KeydromeStructureTable kTable =
    keydrome::structure_table<keydrome::SortedSet<keydrome::Pool, absl::btree_set>>({
        .name = "absl_btree",
        .description = "Abseil's B-tree",
        .capabilities = KEYDROME_SHARED_READS,
    });

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
