// Defines `the_case` of one hostile library: its id, the moments at which it attacks, and its
// attack function. CMake compiles this file once per library and passes these values as macros.
#include "tests/hostile/attack.h"

namespace hostile {

void KEYDROME_ATTACK(Where where);

extern const Case the_case;
const Case the_case{KEYDROME_CASE, KEYDROME_WHERE, KEYDROME_ATTACK};

}  // namespace hostile
