/* Reads the clock on which the jail's deadlines are based. */
#ifndef KEYDROME_JAIL_SUPPORT_CLOCK_H_
#define KEYDROME_JAIL_SUPPORT_CLOCK_H_

#include <stdint.h>
#include <time.h>

/* Returns CLOCK_MONOTONIC in microseconds. */
static inline uint64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

#endif
