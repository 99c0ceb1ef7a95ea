// The table of functions (tables.h) that every processor can execute.
#include "structures/btree/functions.h"
#include "structures/btree/search/plain.h"
#include "structures/btree/tables.h"

namespace keydrome::btree {

const KeydromeStructureTable* const kTablePlain = &Functions<SearchPlain>::kTable;

}  // namespace keydrome::btree
