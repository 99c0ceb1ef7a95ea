/* The command line of the jail. */
#ifndef KEYDROME_JAIL_OPTIONS_H_
#define KEYDROME_JAIL_OPTIONS_H_

#include <stdbool.h>
#include <stdint.h>

#include "jail/facts.h"

enum { kMaxBinds = 64, kMaxPassFds = 16, kFirstUid = 60000, kSlots = 1000, kMaxGroup = 100 };

struct bind {
  const char* source; /* on the host */
  const char* target; /* absolute, inside; no "..", not "/" */
};

/* What a test may leave out, to see that the loss is noticed. */
enum without {
  WITHOUT_CGROUP,
  WITHOUT_UNIFIED, /* the cgroup v2 hierarchy of a hybrid machine */
  WITHOUT_SECCOMP,
  WITHOUT_NOSYMFOLLOW,
  WITHOUT_COUNT
};

struct options {
  bool check;
  bool sweep; /* only clear away what dead jails left behind */
  bool counters;
  enum level require;
  int slot;
  bool slot_given;
  struct bind binds[kMaxBinds];
  int bind_count;
  uint64_t tmpfs_bytes; /* 0: no working directory */
  uint64_t memory_bytes;
  uint64_t processes;        /* threads count as processes */
  const char* cpus;          /* NULL: not pinned */
  const char* cgroup_parent; /* a group below the mount points; NULL: the mount points themselves */
  uint64_t wall_ms;
  uint64_t cpu_seconds; /* 0: only the wall deadline */
  uint64_t open_files;
  uint64_t file_bytes;
  uint64_t stack_bytes;
  int pass_fds[kMaxPassFds];
  int pass_fd_count;
  int command_fd; /* -1: none */
  int meta_fd;    /* -1: none */
  bool without[WITHOUT_COUNT];
  char** program; /* NULL-terminated; NULL with --check and --sweep */
  /* Not from the command line. Who starts the jail: an ordinary user gets a user namespace. */
  bool has_root;
  unsigned int caller_user;
  unsigned int caller_group;
};

/* The user, and group, that the program sees itself as. */
static inline unsigned int options_user(const struct options* options) {
  return (unsigned int)(kFirstUid + options->slot);
}

static inline bool options_without(const struct options* options, enum without what) {
  return options->without[what];
}

/* Parses the command line and checks that the descriptors are open. Ends the process with a message
 * that says what is wrong and what is allowed, or prints the usage for --help. */
void options_parse(struct options* options, int argc, char** argv);

#endif
