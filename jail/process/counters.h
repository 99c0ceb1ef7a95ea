/* Reads performance counters of the processor and the kernel for the whole process tree in the
 * jail, with perf_event_open(2). */
#ifndef KEYDROME_JAIL_PROCESS_COUNTERS_H_
#define KEYDROME_JAIL_PROCESS_COUNTERS_H_

#include <sys/types.h>

#include "jail/command.h"

struct counters {
  int events[KEYDROME_JAIL_COUNTERS]; /* by counter: its perf descriptor; -1: not open */
};

/* Marks every counter as not open. */
void counters_init(struct counters* counters);

/* Starts counting for `process` and for every process and thread that `process` starts later. Call
 * this function before `process` has started any process or thread, because existing ones are not
 * counted. Never fails; a counter that this machine or kernel lacks stays unknown. */
void counters_open(struct counters* counters, pid_t process);

/* Stores the counts so far in `counts`; UINT64_MAX: unknown. If the processor has too few registers
 * for all events, the kernel measures each event only part of the time. The function then
 * extrapolates the count. */
void counters_read(const struct counters* counters, uint64_t counts[KEYDROME_JAIL_COUNTERS]);

#endif
