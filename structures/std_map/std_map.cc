// Exports std::set through contract B, the interface of a data structure (keydrome/structure.h).
#include <set>

#include "keydrome/structure_class.h"
#include "structures/common/sorted_pairs.h"

namespace {

constexpr KeydromeStructureTable kTable =
    keydrome::structure_table<keydrome::SortedSet<keydrome::StructureResource, std::set>>({
        .name = "std_map",
        .description = "the red-black tree of the C++ standard library",
        .capabilities = KEYDROME_SHARED_READS,
    });

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
