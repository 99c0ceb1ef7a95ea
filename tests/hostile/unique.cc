// Case D11: defines a unique symbol (STB_GNU_UNIQUE) that has the name of a symbol of the C++
// library. The loader keeps only one definition of a unique symbol in the whole process. The
// player, the program that calls the library, must not use this definition. It contains its own C++
// library, whose symbols are hidden.
#include "tests/hostile/attack.h"

namespace hostile {

template <typename Value>
struct Shared {
  static inline Value value = -1;
};
template struct Shared<int>;

}  // namespace hostile

// Defines std::string::_Rep::_S_empty_rep_storage. If the player used this definition, each of its
// empty strings would have a length of 99. The symbol is defined in assembler, because a compiler
// gives the binding STB_GNU_UNIQUE only to symbols such as inline variables.
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
  required("own definitions", Shared<int>::value == 7 && keydrome_empty_string[0] == 99);
}

}  // namespace hostile
