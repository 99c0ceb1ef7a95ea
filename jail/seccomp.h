/* The system calls that the program may make. */
#ifndef KEYDROME_JAIL_SECCOMP_H_
#define KEYDROME_JAIL_SECCOMP_H_

/* Builds the filter; costs some hundred microseconds, so it is done while the jail is still being set up.
 *
 * The filter allows one execution: execveat of descriptor `exec_fd` with AT_EMPTY_PATH. `exec_fd` must be close-on-exec
 * and its number not below RLIMIT_NOFILE: then no later descriptor can ever have it, and the program cannot execute
 * anything again. Ends the process on failure. */
void seccomp_prepare(int exec_fd);

/* Puts the prepared filter in force in the calling thread; needs no_new_privs. */
void seccomp_enforce(void);

#endif
