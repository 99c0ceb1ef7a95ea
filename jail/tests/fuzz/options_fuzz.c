/* Fuzz target for the parser of the jail's command line. The input has one argument per line. For
 * every input the parser must either end the process with a message, or accept options within the
 * documented bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jail/options/options.h"
#include "jail/support/die.h"
#include "jail/support/files.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { kMaxArguments = 40 };
static jmp_buf refused;

/* Replaces die() of jail/support/die.c. The real function would end the process; this one only ends
 * the parsing of the current input. */
void die(const char* format, ...) {
  char message[kMaxMessage];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (!message[0]) {
    abort(); /* every refusal must have a message */
  }
  longjmp(refused, 1);
}

void die_set_meta_fd(int fd) { (void)fd; }

bool write_all(int fd, const void* usage, size_t size) {
  (void)fd;
  return usage && size > 0;
}

void fuzz_exit(int status);
void fuzz_exit(int status) { longjmp(refused, status + 1); } /* in place of _exit(), for --help */

static void require(bool holds) {
  if (!holds) {
    abort();
  }
}

/* LIMIT: more than 15 branches, because each bound of the options needs one. */
static void check(const struct options* options) {
  require(options->slot >= 0 && options->slot < kSlots);
  require(options->bind_count >= 0 && options->bind_count <= kMaxBinds);
  require(options->pass_fd_count >= 0 && options->pass_fd_count <= kMaxPassFds);
  for (int i = 0; i < options->bind_count; i++) {
    const char* target = options->binds[i].target;
    require(options->binds[i].source[0] && target[0] == '/' && target[1]);
    require(!strstr(target, "/../") && !strstr(target, "//"));
  }
  for (int i = 0; i < options->pass_fd_count; i++) {
    require(options->pass_fds[i] > STDERR_FILENO);
    require(options->pass_fds[i] != options->meta_fd);
    require(options->pass_fds[i] != options->command_fd);
  }
  const char* parent = options->cgroup_parent;
  require(!parent || (*parent && *parent != '/' && !strstr(parent, "..")));
  require(options->memory_bytes >= 4194304 && options->wall_ms > 0 && options->file_bytes > 0);
  require(options->processes >= 1 && options->open_files >= 16);
  require(options->program ? options->program[0][0] == '/' : options->check != options->sweep);
}

static void parse(int count, char** arguments) {
  static struct options options;
  optind = 0; /* makes getopt start from the beginning */
  if (setjmp(refused) == 0) {
    options_parse(&options, count, arguments);
    check(&options);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  /* The parser modifies its arguments, so they are in a copy of the input. */
  char* text = malloc(size + 1);
  char* arguments[kMaxArguments + 1] = {(char[]){"jail"}};
  int count = 1;
  if (!text) {
    return 0;
  }
  memcpy(text, data, size);
  text[size] = '\0';
  char* rest = text;
  for (char* line; count < kMaxArguments && (line = strsep(&rest, "\n"));) {
    arguments[count++] = line;
  }
  parse(count, arguments);
  free(text);
  return 0;
}
