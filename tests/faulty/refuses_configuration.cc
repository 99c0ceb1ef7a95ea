// Not a fault: refuses every configuration, with a reason. Verdict unsupported, and the reason is
// shown.
#include <cstdio>

#include "keydrome/extensions.h"
#include "tests/faulty/honest.h"

extern "C" int keydrome_configure(const char*, char* reason, uint32_t capacity) {
  std::snprintf(reason, capacity, "needs a machine with transactional memory");
  return 1;
}
