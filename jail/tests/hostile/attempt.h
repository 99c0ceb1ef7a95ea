/* Helpers for hostile programs, which test the jail. A hostile program attempts what the jail must
 * refuse, and the jail must refuse each attempt with the documented errno.
 *
 * The program exits with 0 if all attempts were refused in this way. Otherwise the program prints a
 * line "HOLE ..." for each attempt that succeeded or failed with another errno, and exits with 1.
 */
#ifndef KEYDROME_JAIL_TESTS_ATTEMPT_H_
#define KEYDROME_JAIL_TESTS_ATTEMPT_H_

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int attempt_holes;

/* Checks an attempt. `result`, the return value of the call, must be negative, and errno must be
 * `expected`. */
static inline void refused(const char* what, long result, int expected) {
  int error = errno;
  if (result >= 0) {
    printf("HOLE %s: succeeded\n", what);
    attempt_holes++;
  } else if (error != expected) {
    printf("HOLE %s: %s instead of %s\n", what, strerror(error), strerror(expected));
    attempt_holes++;
  }
}

/* Checks a condition that the jail must fulfil. */
static inline void required(const char* what, int is_true) {
  if (!is_true) {
    printf("HOLE %s: not fulfilled (last errno: %s)\n", what, strerror(errno));
    attempt_holes++;
  }
}

/* Returns the exit code of the program. Prints "refused" if no attempt found a hole. */
static inline int attempt_result(void) {
  if (attempt_holes == 0) {
    puts("refused");
  }
  return attempt_holes != 0;
}

#endif
