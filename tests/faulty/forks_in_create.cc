// Tries to start a process. The jail must refuse; then the library works honestly and must pass.
#include <unistd.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType type, char* name) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child < 0 ? honest::create(type, name) : FAILURE;
}
