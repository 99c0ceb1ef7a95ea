/* Implements jail/support/die.h: ends the jail with an error message. The jail's parent process
 * writes the message to stderr, and as lines of the form name:value to the meta descriptor, from
 * which the jail's caller reads. The child, which is inside the jail, sends the message to the
 * parent over a pipe, the report pipe. */
#include "jail/support/die.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/support/child_report.h"
#include "jail/support/files.h"

static int meta_fd = -1;
static int report_fd = -1;
static void (*clean_up)(void);

void die_set_meta_fd(int fd) { meta_fd = fd; }
void die_set_report_fd(int fd) { report_fd = fd; }
void die_set_clean_up(void (*function)(void)) { clean_up = function; }

/* The longest message: that of die_step(). */
enum { kMaxWithReason = kMaxMessage + 256, kMaxLine = kMaxWithReason + 32 };

static _Noreturn void fail(char* message) {
  for (char* c = message; *c; c++) {
    if ((unsigned char)*c < ' ') {
      *c = '?';
    }
  }
  if (report_fd >= 0) {
    struct child_report report = {.kind = REPORT_FAILED};
    snprintf(report.text, sizeof report.text, "%s", message);
    write_all(report_fd, &report, sizeof report);
    _exit(EXIT_JAIL_FAILED);
  }
  if (clean_up) {
    clean_up();
  }
  char line[kMaxLine];
  int length = snprintf(line, sizeof line, "jail: %s\n", message);
  write_all(STDERR_FILENO, line, (size_t)length);
  if (meta_fd >= 0) {
    length = snprintf(line, sizeof line, "status:failed\nerror:%s\n", message);
    write_all(meta_fd, line, (size_t)length);
  }
  _exit(EXIT_JAIL_FAILED);
}

void die(const char* format, ...) {
  char message[kMaxMessage];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  fail(message);
}

/* Writes what failed, and why, into a buffer of kMaxWithReason bytes. Returns the length. */
__attribute__((format(printf, 3, 0))) static size_t describe(char* message, int error,
                                                             const char* format,
                                                             va_list arguments) {
  char what[kMaxMessage];
  vsnprintf(what, sizeof what, format, arguments);
  snprintf(message, kMaxWithReason, "%s: %s", what, strerror(error));
  return strlen(message);
}

void die_errno(const char* format, ...) {
  const int error = errno;
  char message[kMaxWithReason];
  va_list arguments;
  va_start(arguments, format);
  describe(message, error, format, arguments);
  va_end(arguments);
  fail(message);
}

static const char* advice(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
    case ENOSYS:
      return "start the jail as root, on Linux 5.14 or newer; in a container, allow the call as "
             "docker-compose.yml does";
    case EMFILE:
    case ENFILE:
      return "close open files, or raise the limit of open files (ulimit -n)";
    case EAGAIN:
    case ENOMEM:
    case ENOSPC:
      return "free memory, or end other processes, and run the jail again";
    default:
      return "run the jail again, and please report this message to Keydrome if it appears again";
  }
}

void die_step(const char* format, ...) {
  const int error = errno;
  char message[kMaxWithReason];
  va_list arguments;
  va_start(arguments, format);
  const size_t length = describe(message, error, format, arguments);
  va_end(arguments);
  snprintf(message + length, sizeof message - length, "; %s", advice(error));
  fail(message);
}
