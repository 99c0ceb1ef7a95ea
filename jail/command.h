/* The command channel (--command-fd): what a supervisor may ask a running jail.
 *
 * The supervisor sends one byte, a command of enum keydrome_jail_command, and receives one struct
 * keydrome_jail_reply. Any socket pair will do (SOCK_SEQPACKET or SOCK_STREAM). Answers come in the
 * order of the commands. End of file on the channel means that the supervisor is gone: the jail
 * then kills the program. The header is C and C++.
 *
 * Not thread safe: one outstanding command at a time per supervisor, by convention of the caller.
 */
#ifndef KEYDROME_JAIL_COMMAND_H_
#define KEYDROME_JAIL_COMMAND_H_

#include <stdint.h>

enum keydrome_jail_command {
  KEYDROME_JAIL_FREEZE = 'F', /* answered when no thread of the program runs any more */
  KEYDROME_JAIL_THAW = 'T',   /* answered when the threads may run again */
  KEYDROME_JAIL_USAGE = 'U',  /* only reads */
  KEYDROME_JAIL_KILL = 'K'    /* answered before the kill; the jail then ends with status:killed */
};

/* What --counters has counted. Of the hardware's counters a virtual machine often has none. */
enum keydrome_jail_counter {
  KEYDROME_JAIL_CYCLES,
  KEYDROME_JAIL_INSTRUCTIONS,
  KEYDROME_JAIL_CACHE_MISSES, /* of the last level */
  KEYDROME_JAIL_BRANCH_MISSES,
  KEYDROME_JAIL_STALLED_FRONTEND, /* cycles in which nothing came from the front end */
  KEYDROME_JAIL_STALLED_BACKEND,  /* cycles in which nothing could be executed: memory, mostly */
  KEYDROME_JAIL_PAGE_FAULTS,
  KEYDROME_JAIL_CONTEXT_SWITCHES,
  KEYDROME_JAIL_MIGRATIONS, /* from one processor to another */
  KEYDROME_JAIL_COUNTERS    /* how many there are */
};

/* The answer, 104 bytes in the machine's byte order. The usage is filled in for every command, read
 * after a freeze and before a thaw, so that two answers bound what happened between them. */
struct keydrome_jail_reply {
  uint32_t command; /* the byte that was asked, as received */
  uint32_t error; /* 0, or errno: ENOTSUP where the machine cannot, EINVAL for an unknown command */
  uint64_t cpu_us;            /* CPU time of the whole tree so far; UINT64_MAX: unknown */
  uint64_t memory_bytes;      /* charged to the tree now, page cache and tmpfs included; UINT64_MAX:
                                 unknown */
  uint64_t memory_peak_bytes; /* the highest so far; UINT64_MAX: unknown */
  uint64_t counters[KEYDROME_JAIL_COUNTERS]; /* of the whole tree so far; UINT64_MAX: unknown */
};

#endif
