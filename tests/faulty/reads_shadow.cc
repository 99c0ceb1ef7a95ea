// A hostile library for tests: it tries to read /etc/shadow, first in the constructor, when the
// jail (its sandbox) still allows opening files, and again in create. It works correctly only if it
// cannot read the file. It must pass, because both attempts fail in the jail.
#include <fcntl.h>

#include "tests/faulty/honest.h"

namespace {

bool was_read = false;

void try_to_read() {
  if (open("/etc/shadow", O_RDONLY | O_CLOEXEC) >= 0) was_read = true;
}

[[gnu::constructor]] void try_early() { try_to_read(); }

}  // namespace

extern "C" ErrCode create(KeyType type, char* name) {
  try_to_read();
  return was_read ? FAILURE : honest::create(type, name);
}
