/* Implements jail/support/files.h: reads and writes small files of control groups and /proc, with
 * openat, read or write, and close. */
#include "jail/support/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
