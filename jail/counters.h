/* What the processor and the kernel count about the whole tree in the jail: perf_event_open(2). */
#ifndef KEYDROME_JAIL_COUNTERS_H_
#define KEYDROME_JAIL_COUNTERS_H_

#include <sys/types.h>

#include "jail/command.h"

struct counters {
  int events[KEYDROME_JAIL_COUNTERS]; /* -1: the machine does not have it */
};

/* None is open. */
void counters_init(struct counters* counters);

/* Counts what the process and all that it starts do from now on. Call before it has started
 * anything: what is there already would not be counted. Never fails: a counter that this machine or
 * kernel does not have is unknown. */
void counters_open(struct counters* counters, pid_t process);

/* The counts so far; UINT64_MAX: unknown. Where the processor has too few registers for all and
 * takes turns, a count is what was seen, scaled to the whole time. */
void counters_read(const struct counters* counters, uint64_t counts[KEYDROME_JAIL_COUNTERS]);

#endif
