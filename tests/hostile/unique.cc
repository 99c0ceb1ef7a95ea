// D11: a symbol of which the loader makes one for the whole process (STB_GNU_UNIQUE), under the
// name that the C++ library has for one of its own. The player has that library linked in, hidden:
// there is nothing that it would share.
#include "tests/hostile/attack.h"

namespace hostile {

template <typename Value>
struct Shared {
  static inline Value value = -1;
};
template struct Shared<int>;

}  // namespace hostile

// std::string::_Rep::_S_empty_rep_storage: with another length every empty string would be longer.
// In assembler, for a compiler gives that binding only to what it thinks should have it.
__asm__(
    ".data\n"
    ".globl _ZNSs4_Rep20_S_empty_rep_storageE\n"
    ".type _ZNSs4_Rep20_S_empty_rep_storageE, @gnu_unique_object\n"
    ".size _ZNSs4_Rep20_S_empty_rep_storageE, 32\n"
    ".p2align 3\n"
    "_ZNSs4_Rep20_S_empty_rep_storageE: .quad 99, 99, 99, 99\n"
    ".text\n");

extern "C" {
extern unsigned long keydrome_empty_string[4] __asm__("_ZNSs4_Rep20_S_empty_rep_storageE");
}

namespace hostile {

void merge_symbols(Where) {
  Shared<int>::value = 7;
  required("the own one", Shared<int>::value == 7 && keydrome_empty_string[0] == 99);
}

}  // namespace hostile
