// No fault: tries to start a process, and works correctly if the fork fails.
// Must pass: the jail refuses the fork.
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType type, char* name) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child < 0 ? honest::create(type, name) : FAILURE;
}
