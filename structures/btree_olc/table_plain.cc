// The table of functions (tables.h) that every processor can execute.
#include "structures/btree_olc/changes.h"
#include "structures/btree_olc/search/plain.h"
#include "structures/btree_olc/tables.h"

namespace keydrome::btree_olc {
namespace {

constexpr KeydromeStructureTable kPlain = table_of<Tree<SearchPlain>, SearchPlain>();

}  // namespace

const KeydromeStructureTable* const kTablePlain = &kPlain;

}  // namespace keydrome::btree_olc
