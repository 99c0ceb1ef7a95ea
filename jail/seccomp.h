/* The system calls that the program may make. The policy is in seccomp_generate.c, which runs when
 * the jail is built. */
#ifndef KEYDROME_JAIL_SECCOMP_H_
#define KEYDROME_JAIL_SECCOMP_H_

/* The filter allows one execution: execveat of this descriptor with AT_EMPTY_PATH. The descriptor
 * is close-on-exec and its number not below the program's RLIMIT_NOFILE: so no descriptor that the
 * program opens can ever have it, and the program cannot execute anything again. */
enum { kExecDescriptor = 4096 };

/* Puts the filter in force in the calling thread; needs no_new_privs. Ends the process on failure.
 */
void seccomp_enforce(void);

#endif
