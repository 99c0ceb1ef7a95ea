/* Loads the seccomp filter, which limits the system calls of the jailed program. filter/generate.c
 * contains the list of allowed calls and compiles it when the jail is built; filter_enforce() loads
 * the compiled filter. */
#ifndef KEYDROME_JAIL_FILTER_FILTER_H_
#define KEYDROME_JAIL_FILTER_FILTER_H_

/* The descriptor that refers to the program's file. The filter allows execveat only for this
 * descriptor, with AT_EMPTY_PATH, so that the jail can start the program. The program itself cannot
 * make such a call: the descriptor is close-on-exec, and RLIMIT_NOFILE keeps the program's own
 * descriptors below this number. */
enum { kExecDescriptor = 4096 };

/* Loads the filter for the calling thread, which must have no_new_privs set. Ends the process on
 * failure. */
void filter_enforce(void);

#endif
