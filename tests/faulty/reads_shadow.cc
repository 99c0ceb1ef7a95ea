// Tries to read the password file. The jail must refuse, in the constructor (while files may still
// be opened) and later; then the library works honestly and must pass.
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
