/* Takes the name of a slot (the number that selects a jail's user and groups) by binding an
 * abstract Unix socket. The kernel frees the name when the last descriptor of the socket is closed,
 * even if the process is killed. */
#include "jail/support/slot_name.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool slot_name_take(int slot, int* holder) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  /* An abstract name begins with a zero byte and has no terminator. */
  int length =
      snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "keydrome-slot-%d", slot);
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
  *holder = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (*holder < 0 || bind(*holder, (struct sockaddr*)&address, size) == 0) {
    return true;
  }
  bool taken = errno == EADDRINUSE;
  close(*holder);
  *holder = -1;
  return !taken;
}
