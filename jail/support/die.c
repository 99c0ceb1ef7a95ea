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
static bool root_started;

void die_set_meta_fd(int fd) { meta_fd = fd; }
void die_set_report_fd(int fd) { report_fd = fd; }
void die_set_clean_up(void (*function)(void)) { clean_up = function; }
void die_set_root(bool root) { root_started = root; }

/* The longest message: that of die_errno() or die_step(). */
enum { kMaxWithReason = kMaxMessage + 384, kMaxLine = kMaxWithReason + 32 };

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

/* Ends the process with a message of three parts: what failed, the text of `error`, and advice. */
__attribute__((format(printf, 3, 0))) static _Noreturn void fail_with(int error, const char* advice,
                                                                      const char* format,
                                                                      va_list arguments) {
  char what[kMaxMessage];
  char message[kMaxWithReason];
  vsnprintf(what, sizeof what, format, arguments);
  snprintf(message, sizeof message, "%s: %s; %s", what, strerror(error), advice);
  fail(message);
}

void die_errno(const char* advice, const char* format, ...) {
  const int error = errno;
  va_list arguments;
  va_start(arguments, format);
  fail_with(error, advice, format, arguments);
}

static const char* advice_about(int error) {
  switch (error) {
    case EPERM:
      return root_started
                 ? "root lacks a capability, or a seccomp profile refuses the call: in a "
                   "container, set cap_add and security_opt as docker-compose.yml does for the "
                   "service bench"
                 : "start the jail as root; in a container, allow the call in its seccomp "
                   "profile, as docker-compose.yml does";
    case EACCES:
      return "a security module such as AppArmor denies the call: start the jail, or its "
             "container, with a profile that allows the call (in Docker, security_opt "
             "apparmor=unconfined)";
    case ENOSYS:
      return "this kernel or container does not offer the call: use Linux 5.12 or newer; in a "
             "container, allow the call in its seccomp profile, as docker-compose.yml does";
    case EMFILE:
      return "close files in the process that starts the jail, or raise the limit of open files "
             "(ulimit -n)";
    case ENFILE:
      return "this machine has too many open files: end programs that have many files open, or as "
             "root raise the limit: sysctl -w fs.file-max=N, where N is twice the present value";
    case EAGAIN:
      return "a limit of processes is reached: end other programs, or raise the limit (ulimit -u; "
             "in a container, pids_limit)";
    case ENOMEM:
    case ENOSPC:
      return "free memory, or end other programs, and repeat the run";
    default:
      return "repeat the run, and please report this message to Keydrome if it appears again";
  }
}

void die_step(const char* format, ...) {
  const int error = errno;
  va_list arguments;
  va_start(arguments, format);
  fail_with(error, advice_about(error), format, arguments);
}
