/* Hostile program, for testing the jail (a sandbox for one program): starts threads until the limit
 * on the number of threads and processes refuses one. Prints the number of started threads. */
#include <pthread.h>
#include <stdlib.h>

#include "jail/tests/hostile/attempt.h"

static void* idle(void* unused) {
  pause();
  return unused;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  int threads = 0;
  int error = 0;
  while (threads < 100000 && error == 0) {
    pthread_t thread;
    error = pthread_create(&thread, &attributes, idle, NULL);
    threads += error == 0;
  }
  printf("threads %d\n", threads);
  required("stopped by the limit", error == EAGAIN);
  return attempt_result();
}
