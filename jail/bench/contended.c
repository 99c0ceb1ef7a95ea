/* Simulates the load of an index library: threads allocate and free memory under a few contended
 * locks. bench/latency.py compares the running time of this program inside and outside the jail.
 * Prints nothing.
 *
 * usage: contended THREADS OPERATIONS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLocks = 64, kSlots = 4096 };

struct slot {
  pthread_mutex_t* lock;
  void* block;
};

static pthread_mutex_t locks[kLocks];
static struct slot slots[kSlots];
static long operations;

/* A xorshift generator: cheap, and with the same sequence in every run. */
static uint64_t next(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void* work(void* argument) {
  uint64_t state = (uint64_t)(uintptr_t)argument * 0x9e3779b97f4a7c15u;
  for (long i = 0; i < operations; i++) {
    struct slot* slot = &slots[next(&state) % kSlots];
    size_t size = 16 + next(&state) % 512;
    pthread_mutex_lock(slot->lock);
    free(slot->block);
    slot->block = malloc(size);
    if (!slot->block) {
      abort();
    }
    memset(slot->block, 1, size);
    pthread_mutex_unlock(slot->lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  long threads = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
  operations = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
  if (threads < 1 || threads > 256 || operations < 1) {
    fputs("usage: contended THREADS OPERATIONS\n", stderr);
    return 2;
  }
  pthread_t running[256];
  for (int i = 0; i < kLocks; i++) {
    pthread_mutex_init(&locks[i], NULL);
  }
  for (int i = 0; i < kSlots; i++) {
    slots[i].lock = &locks[i % kLocks];
  }
  for (long i = 0; i < threads; i++) {
    if (pthread_create(&running[i], NULL, work, (void*)(uintptr_t)(i + 1)) != 0) {
      return 1;
    }
  }
  for (long i = 0; i < threads; i++) {
    pthread_join(running[i], NULL);
  }
  return 0;
}
