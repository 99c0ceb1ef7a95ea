// Says which attack a hostile library makes, and where: one object per library.
#include "tests/hostile/attack.h"

namespace hostile {

void KEYDROME_ATTACK(Where where);

extern const Case the_case;
const Case the_case{KEYDROME_CASE, KEYDROME_WHERE, KEYDROME_ATTACK};

}  // namespace hostile
