// A correct library for tests that refuses every configuration with a reason. The verdict must be
// unsupported, and the report must show the reason.
#include <cstdio>

#include "keydrome/extensions.h"
#include "tests/faulty/honest.h"

extern "C" int keydrome_configure(const char*, char* reason, uint32_t capacity) {
  std::snprintf(reason, capacity, "needs a machine with transactional memory");
  return 1;
}
