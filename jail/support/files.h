/* Reads and writes small text files of cgroupfs and procfs. Also writes all bytes of a buffer to a
 * pipe or socket. */
#ifndef KEYDROME_JAIL_SUPPORT_FILES_H_
#define KEYDROME_JAIL_SUPPORT_FILES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Write `text`, or a number, to the existing file `name` in `directory`. Use a single write(2), as
 * these files require. Return 0 or an errno value. */
int write_file_at(int directory, const char* name, const char* text);
int write_number_at(int directory, const char* name, uint64_t number);

/* Reads the file `name` in `directory` into `text`, at most `capacity` - 1 bytes, and terminates
 * the text. Returns the length, or -1 with errno set if the file cannot be opened. */
long read_file_at(int directory, const char* name, char* text, size_t capacity);

/* Reads a file that contains one number. Returns false if the file or the number is missing. */
bool read_number_at(int directory, const char* name, uint64_t* number);

/* Reads the number that follows `key` and a blank at the start of a line, as in cpu.stat. Returns
 * false if there is no such line. */
bool read_keyed_number_at(int directory, const char* name, const char* key, uint64_t* number);

/* Writes all `size` bytes, and continues after signals. Returns false on an error. */
bool write_all(int fd, const void* data, size_t size);

#endif
