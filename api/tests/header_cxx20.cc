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
