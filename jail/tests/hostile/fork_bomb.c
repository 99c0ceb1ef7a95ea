/* Hostile program, for testing the jail (a sandbox for one program): tries to fork, which the
 * jail's system call filter must refuse. The argument "allowed" means that the filter is disabled.
 * The program then forks until the limit on the number of processes refuses it. */
#include <stdlib.h>

#include "jail/tests/hostile/attempt.h"

int main(int argc, char** argv) {
  if (argc < 2 || strcmp(argv[1], "allowed") != 0) {
    refused("fork", fork(), EPERM);
    refused("vfork", vfork(), EPERM);
    return attempt_result();
  }
  for (;;) {
    pid_t child = fork();
    if (child < 0) {
      required("stopped by the limit", errno == EAGAIN);
      return attempt_result();
    }
    if (child == 0) {
      pause();
      _exit(0);
    }
  }
}
