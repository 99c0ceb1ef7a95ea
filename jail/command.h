/* The command channel of the jail (--command-fd). Over this channel the caller freezes, thaws,
 * measures and kills the process tree: the jailed program and every process that the program
 * started. This header is for C and C++.
 *
 * The channel is a socket pair (SOCK_SEQPACKET or SOCK_STREAM). For each command, the caller sends
 * one byte, an enum keydrome_jail_command, and receives one struct keydrome_jail_reply. Replies
 * arrive in the order of the commands. If the caller closes its end, or leaves it full of unread
 * replies, the jail kills the program.
 *
 * Use the channel from one thread at a time, with at most one command outstanding, because replies
 * have no number that matches them to commands. */
#ifndef KEYDROME_JAIL_COMMAND_H_
#define KEYDROME_JAIL_COMMAND_H_

#include <stdint.h>

enum keydrome_jail_command {
  KEYDROME_JAIL_FREEZE = 'F', /* the jail replies when all threads of the tree have stopped */
  KEYDROME_JAIL_THAW = 'T',   /* the jail replies when the threads may run again */
  KEYDROME_JAIL_USAGE = 'U',  /* the jail only replies */
  KEYDROME_JAIL_KILL = 'K'    /* the jail replies, kills the tree and reports "status:killed" */
};

/* Counters of the option --counters. The processor counts the first six events, which many virtual
 * machines do not offer. The kernel counts the others. */
enum keydrome_jail_counter {
  KEYDROME_JAIL_CYCLES,
  KEYDROME_JAIL_INSTRUCTIONS,
  KEYDROME_JAIL_CACHE_MISSES, /* in the last-level cache */
  KEYDROME_JAIL_BRANCH_MISSES,
  KEYDROME_JAIL_STALLED_FRONTEND, /* cycles in which the front end delivered no instruction */
  KEYDROME_JAIL_STALLED_BACKEND,  /* cycles in which no instruction could execute, mostly
                                     while waiting for data from memory */
  KEYDROME_JAIL_PAGE_FAULTS,
  KEYDROME_JAIL_CONTEXT_SWITCHES,
  KEYDROME_JAIL_MIGRATIONS, /* of threads between processors */
  KEYDROME_JAIL_COUNTERS    /* the number of counters */
};

/* The reply to a command: 112 bytes in the machine's byte order. Every reply contains the usage.
 * The jail reads CPU time, memory and counters after it has executed a freeze, but before it
 * executes a thaw. The tree is frozen at both times. So the CPU times in the replies to a thaw and
 * to the next freeze differ by exactly the time that the tree used in between. */
struct keydrome_jail_reply {
  uint32_t command; /* the command byte that the jail received */
  /* 0 or an errno value:
   * - ENOTSUP: the machine cannot freeze processes
   * - ETIMEDOUT: a freeze or thaw took more than two seconds
   * - EINVAL: the command is unknown */
  uint32_t error;
  uint64_t cpu_us; /* CPU time of the tree so far; UINT64_MAX: unknown */
  /* Memory charged to the tree at present, including page cache and tmpfs; UINT64_MAX: unknown. */
  uint64_t memory_bytes;
  uint64_t memory_peak_bytes; /* maximum of memory_bytes so far */
  /* CPU time of the tree before the jail executed the command. The kernel adds the CPU time of a
   * running thread up to 4 ms late, so this number can be too small by 4 ms for each thread that
   * was running. After a freeze, cpu_us is exact. So for a freeze, cpu_us - cpu_before_us is at
   * least the CPU time that the tree used while it froze. It exceeds this time by at most 4 ms for
   * each thread. */
  uint64_t cpu_before_us;
  uint64_t counters[KEYDROME_JAIL_COUNTERS]; /* of the tree so far; UINT64_MAX: unknown */
};

#endif
