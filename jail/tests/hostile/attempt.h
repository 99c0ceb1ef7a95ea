/* What the hostile programs share: trying something and noticing when it is not refused.
 *
 * A program ends with exit code 0 if every attempt was refused as it should be, and 1 if one was
 * not; then it also says which. So a hole in the jail is a failed test, and so is a refusal of
 * another kind than the documented one. */
#ifndef KEYDROME_JAIL_TESTS_ATTEMPT_H_
#define KEYDROME_JAIL_TESTS_ATTEMPT_H_

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int attempt_holes;

/* `result` is what the attempted call returned: it must be negative, with errno `expected`. */
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

/* What must be true for the jail to be right. */
static inline void required(const char* what, int is_true) {
  if (!is_true) {
    printf("HOLE %s: not so (%s)\n", what, strerror(errno));
    attempt_holes++;
  }
}

static inline int attempt_result(void) {
  if (attempt_holes == 0) {
    puts("refused");
  }
  return attempt_holes != 0;
}

#endif
