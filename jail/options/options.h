/* The command line of the jail: parses every option and checks its value. */
#ifndef KEYDROME_JAIL_OPTIONS_OPTIONS_H_
#define KEYDROME_JAIL_OPTIONS_OPTIONS_H_

#include <stdbool.h>
#include <stdint.h>

#include "jail/isolation/isolation.h"

enum { kMaxBinds = 64, kMaxPassFds = 16, kFirstUid = 60000, kMaxGroup = 100 };

/* A slot selects the user and the control groups of a jail. Slots are numbered from 0 to
 * kSlots - 1. The commands of `keydrome` take free slots from kFirstLocalSlot on. The processes
 * that execute the runs of a Keydrome site, and most tests, use slots with lower numbers
 * (runner/slots.py). `jail --check` sets up a jail to find out what isolation the machine offers.
 * Without --slot, it uses a free slot from kFirstLocalSlot on. */
enum { kSlots = 1000, kFirstLocalSlot = 900 };

struct bind {
  const char* source; /* a path on the host */
  const char* target; /* an absolute path inside the jail, without "..", other than "/" */
};

/* Mechanisms that --without can disable. Tests use --without to check that the jail reports a
 * missing mechanism. */
enum disabled {
  DISABLED_CGROUP,
  DISABLED_UNIFIED, /* the v2 hierarchy of a machine with v1 and v2 */
  DISABLED_SECCOMP,
  DISABLED_NOSYMFOLLOW,
  DISABLED_COUNT
};

struct options {
  bool check;    /* only print what isolation the machine offers */
  bool sweep;    /* only remove what killed jails have left */
  bool counters; /* count processor and kernel events (process/counters.h) */
  enum level require;
  int slot;
  bool slot_given;
  struct bind binds[kMaxBinds];
  int bind_count;
  uint64_t tmpfs_bytes; /* size of /work; 0: no /work */
  uint64_t memory_bytes;
  uint64_t processes; /* processes and threads together */
  const char* cpus;   /* NULL: not pinned */
  /* The group below which the jail makes its control groups: a path relative to the mount point of
   * each cgroup hierarchy. NULL: directly below the mount points. */
  const char* cgroup_parent;
  uint64_t wall_ms;
  uint64_t cpu_seconds; /* 0: no CPU deadline */
  uint64_t open_files;
  uint64_t file_bytes;
  uint64_t stack_bytes;
  int pass_fds[kMaxPassFds];
  int pass_fd_count;
  int command_fd; /* socket on which the caller sends commands (command.h); -1: none */
  int meta_fd;    /* descriptor for the output lines (meta.h); -1: none */
  bool disabled[DISABLED_COUNT];
  char** program; /* path and arguments, NULL-terminated; NULL with --check or --sweep */
  /* The user and group that started the jail. main() sets these members; no option does. If the
   * user is not root, the jail needs a user namespace. */
  bool has_root;
  unsigned int caller_user;
  unsigned int caller_group;
};

/* Returns the id of the program's user inside the jail. The program's group has the same number. */
static inline unsigned int options_user(const struct options* options) {
  return (unsigned int)(kFirstUid + options->slot);
}

static inline bool options_disabled(const struct options* options, enum disabled what) {
  return options->disabled[what];
}

/* Parses the command line. Also checks that descriptors are open and that the options fit together.
 * With --help, prints the usage and exits with status 0. A wrong option ends the process with a
 * message that names the error and the allowed values. */
void options_parse(struct options* options, int argc, char** argv);

#endif
