// A correct library for tests that tries to open a network socket, and works correctly only if the
// call fails. It must pass, because the jail (its sandbox) refuses the socket.
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType type, char* name) {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  return descriptor < 0 ? honest::create(type, name) : FAILURE;
}
