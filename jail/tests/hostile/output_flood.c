/* Hostile program, for testing the jail (a sandbox for one program): writes to standard output
 * without end. */
#include <string.h>
#include <unistd.h>

int main(void) {
  char block[4096];
  memset(block, 'x', sizeof block);
  while (write(STDOUT_FILENO, block, sizeof block) > 0) {
  }
  return 1;
}
