#include "jail/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jail/report.h"

static int meta_fd = -1;
static int report_fd = -1;
static void (*clean_up)(void);

void util_set_meta_fd(int fd) { meta_fd = fd; }
void util_set_report_fd(int fd) { report_fd = fd; }
void util_set_clean_up(void (*function)(void)) { clean_up = function; }

/* The child only reports: its stderr belongs to the program, and the parent repeats the message on
 * its own. */
static _Noreturn void fail(char* message) {
  /* What is told ends up in lines of "key:value": a name in it must not add lines of its own. */
  for (char* c = message; *c; c++) {
    if ((unsigned char)*c < ' ') {
      *c = '?';
    }
  }
  if (report_fd >= 0) {
    struct report report = {.kind = REPORT_FAILED};
    snprintf(report.text, sizeof report.text, "%s", message);
    write_all(report_fd, &report, sizeof report);
    _exit(EXIT_JAIL_FAILED);
  }
  if (clean_up) {
    clean_up();
  }
  char line[kMaxMessage + 64];
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

void die_errno(const char* format, ...) {
  const char* meaning = strerror(errno);
  char what[kMaxMessage];
  char message[kMaxMessage + 64];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  snprintf(message, sizeof message, "%s: %s", what, meaning);
  fail(message);
}

uint64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

int write_file_at(int directory, const char* name, const char* text) {
  int fd = openat(directory, name, O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  int error = write(fd, text, strlen(text)) < 0 ? errno : 0;
  close(fd);
  return error;
}

int write_number_at(int directory, const char* name, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)number);
  return write_file_at(directory, name, text);
}

long read_file_at(int directory, const char* name, char* text, size_t capacity) {
  int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return -1;
  }
  size_t length = 0;
  while (length + 1 < capacity) {
    ssize_t got = read(fd, text + length, capacity - 1 - length);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    length += (size_t)got;
  }
  close(fd);
  text[length] = '\0';
  return (long)length;
}

static bool parse_number(const char* text, uint64_t* number) {
  char* end;
  errno = 0;
  *number = strtoull(text, &end, 10);
  return errno == 0 && end != text;
}

bool read_number_at(int directory, const char* name, uint64_t* number) {
  char text[64];
  return read_file_at(directory, name, text, sizeof text) > 0 && parse_number(text, number);
}

bool read_keyed_number_at(int directory, const char* name, const char* key, uint64_t* number) {
  char text[4096];
  if (read_file_at(directory, name, text, sizeof text) <= 0) {
    return false;
  }
  size_t key_length = strlen(key);
  for (const char* line = text; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, key_length) == 0 && line[key_length] == ' ') {
      return parse_number(line + key_length + 1, number);
    }
  }
  return false;
}

bool write_all(int fd, const void* data, size_t size) {
  const char* next = data;
  while (size > 0) {
    ssize_t written = write(fd, next, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return false;
    }
    next += written;
    size -= (size_t)written;
  }
  return true;
}
