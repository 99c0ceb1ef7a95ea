// Tests that Keydrome's headers compile as strict C++20, and that index.h can be included twice.
// Three functions of contract A (keydrome/index.h) must also have the types of the SIGMOD 2009
// programming contest.
#include "keydrome/extensions.h"
#include "keydrome/index.h"
#include "keydrome/index.h"  // included twice to test the include guard
#include "keydrome/structure.h"
#include "keydrome/structure_class.h"

#include <type_traits>

static_assert(std::is_same_v<decltype(&create), ErrCode (*)(KeyType, char*)>);
static_assert(std::is_same_v<decltype(&get), ErrCode (*)(IdxState*, TxnState*, Record*)>);
static_assert(
    std::is_same_v<decltype(&insertRecord), ErrCode (*)(IdxState*, TxnState*, Key*, const char*)>);
static_assert(std::is_trivially_copyable_v<Record>);
static_assert(std::is_trivially_copyable_v<KeydromeStructureTable>);
