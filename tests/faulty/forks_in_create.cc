// A correct library for tests that tries to start a process, and works correctly only if the fork
// fails. It must pass, because the jail (its sandbox) refuses the fork.
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType type, char* name) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child < 0 ? honest::create(type, name) : FAILURE;
}
