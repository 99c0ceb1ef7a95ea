/* Small tools of the jail: failing loudly, reading and writing kernel files. */
#ifndef KEYDROME_JAIL_UTIL_H_
#define KEYDROME_JAIL_UTIL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXIT_JAIL_FAILED = 2, EXIT_JAIL_REFUSED = 3, kMaxMessage = 480 };

/* Where die() writes besides stderr; -1 (the start value): nowhere. Set once, by main and by the
 * child. The receiver gets "status:failed\nerror:MESSAGE\n" on the meta descriptor, or a report on
 * the child's pipe. */
void util_set_meta_fd(int fd);
void util_set_report_fd(int fd);

/* What die() does first in the parent, such as removing what would stay behind; NULL (the start
 * value): nothing. It must not die itself. */
void util_set_clean_up(void (*function)(void));

/* Ends the process with EXIT_JAIL_FAILED and a message that says what failed; die_errno appends
 * errno's meaning. */
_Noreturn void die(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die_errno(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* CLOCK_MONOTONIC in microseconds. */
uint64_t now_us(void);

/* Writes `text` to the kernel file `name` in `directory` by one write. Returns 0 or an errno. */
int write_file_at(int directory, const char* name, const char* text);
int write_number_at(int directory, const char* name, uint64_t number);

/* Reads the kernel file `name` in `directory` into `text`, terminated. Returns its length or -1
 * (errno is set). */
long read_file_at(int directory, const char* name, char* text, size_t capacity);

/* Reads a file that holds one number, or the number after `key` at the start of a line. False if it
 * is not there. */
bool read_number_at(int directory, const char* name, uint64_t* number);
bool read_keyed_number_at(int directory, const char* name, const char* key, uint64_t* number);

/* Writes all `size` bytes, resuming after signals. False on error. */
bool write_all(int fd, const void* data, size_t size);

#endif
