/* Which processes the machine has, by user. */
#ifndef KEYDROME_JAIL_PROCESSES_H_
#define KEYDROME_JAIL_PROCESSES_H_

#include <sys/types.h>

struct process {
  pid_t number;
  unsigned int user; /* the real one */
  char name[32];
};

/* Calls `take` for each process of the users `first`..`last` that is not dead already. Reads all of
 * /proc, some 20 us per process of the machine. Ends the process if /proc cannot be read. */
void processes_find(unsigned int first, unsigned int last,
                    void (*take)(const struct process* process, void* context), void* context);

#endif
