/* Hostile program, for testing the jail (a sandbox for one program): recurses until it reaches the
 * stack limit and dies. */
#include <string.h>

static int descend(int depth) {
  volatile char frame[4096];
  memset((void*)frame, depth, sizeof frame);
  return depth < 0 ? 0 : descend(depth + 1) + frame[0];
}

int main(void) { return descend(1); }
