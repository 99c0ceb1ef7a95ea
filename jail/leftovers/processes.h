/* Lists the processes of a range of user ids, from /proc. */
#ifndef KEYDROME_JAIL_LEFTOVERS_PROCESSES_H_
#define KEYDROME_JAIL_LEFTOVERS_PROCESSES_H_

#include <sys/types.h>

struct process {
  pid_t number;
  unsigned int user; /* real user */
  char name[32];
};

/* Calls `take` for each process whose user is in `first`..`last`, except zombies. Reads all of
 * /proc: about 20 us per process of the machine. Ends the process if /proc cannot be read. */
void processes_find(unsigned int first, unsigned int last,
                    void (*take)(const struct process* process, void* context), void* context);

#endif
