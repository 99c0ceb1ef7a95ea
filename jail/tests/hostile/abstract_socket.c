/* Hostile program, for testing the jail (a sandbox for one program): tries to connect to a listener
 * of the host by an abstract socket name. Such names belong to the network namespace, so a separate
 * root directory does not hide them.
 *
 * usage: abstract_socket NAME */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "jail/tests/hostile/attempt.h"

int main(int argc, char** argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = argc == 2 ? strlen(argv[1]) : 0;
  if (length == 0 || length + 1 >= sizeof address.sun_path) {
    return 2;
  }
  memcpy(address.sun_path + 1, argv[1], length);
  int speaker = socket(AF_UNIX, SOCK_STREAM, 0);
  refused("abstract",
          connect(speaker, (struct sockaddr*)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)),
          ECONNREFUSED);
  return attempt_result();
}
