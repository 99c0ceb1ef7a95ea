/* Hostile program, for testing the jail (a sandbox for one program): tries to create sockets of all
 * kinds. */
#include <linux/netlink.h>
#include <sys/socket.h>

#include "jail/tests/hostile/attempt.h"

int main(void) {
  int pair[2];
  refused("inet", socket(AF_INET, SOCK_STREAM, 0), EPERM);
  refused("inet6", socket(AF_INET6, SOCK_DGRAM, 0), EPERM);
  refused("unix", socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
  refused("vsock", socket(AF_VSOCK, SOCK_STREAM, 0), EPERM);
  refused("netlink", socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), EPERM);
  refused("packet", socket(AF_PACKET, SOCK_RAW, 0), EPERM);
  refused("alg", socket(AF_ALG, SOCK_SEQPACKET, 0), EPERM);
  refused("pair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair), EPERM);
  return attempt_result();
}
