/* Hostile program: allocates and writes memory until the kernel kills it at the memory limit. */
#include <stdlib.h>
#include <string.h>

int main(void) {
  for (;;) {
    char* chunk = malloc(1 << 20);
    if (!chunk) {
      return 1;
    }
    memset(chunk, 0x5a, 1 << 20);
  }
}
