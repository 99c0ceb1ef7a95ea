/* The second stage of the jail. A jailed program calls keydrome_tighten() after it has loaded
 * everything that it needs, and thereby gives up the rights that only loading requires. This header
 * is for C and C++. The static library jail_tighten contains the function and needs only libc.
 *
 * From then on:
 * - execve, further seccomp filters and new Landlock rules are refused. prctl is refused except for
 *   naming threads and mappings.
 * - No memory can become executable: mmap and mprotect with PROT_EXEC are refused.
 * - On Linux 6.10 or newer, mseal seals all loaded code, and data that is read-only after
 *   relocation, such as tables of functions. Sealed memory cannot be made writable, unmapped or
 *   replaced.
 * - With Landlock, only files below the working directory, /dev/null, /dev/zero and /dev/urandom
 *   can be opened. If the kernel can apply Landlock only to one thread, this rule binds the calling
 *   thread and the threads that it starts later. All other rules bind the whole process.
 *
 * Refused calls return EPERM or EACCES; the process is not killed. dlopen of a file fails
 * afterwards, so load every library in advance. This includes libgcc_s, which pthread_exit and
 * unwinding need.
 *
 * The second stage protects against code that turns hostile after loading. It does not protect
 * against a constructor of a loaded library: the constructor ran earlier in the same process and
 * may have changed anything, even this function. The jail's own filter protects against
 * constructors. */
#ifndef KEYDROME_JAIL_TIGHTEN_H_
#define KEYDROME_JAIL_TIGHTEN_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What keydrome_tighten() writes into `reason` if a thread of the process has its own filter. */
#define KEYDROME_TIGHTEN_OTHER_FILTER                                                              \
  "the second system call filter (seccomp) cannot be loaded, because a thread of the process has " \
  "installed a filter of its own"

enum keydrome_tighten_layer {
  KEYDROME_TIGHTEN_SECCOMP = 1,      /* the filter, in all threads; always in force */
  KEYDROME_TIGHTEN_LANDLOCK = 2,     /* the file rule, in this thread and threads that it starts */
  KEYDROME_TIGHTEN_LANDLOCK_ALL = 4, /* the file rule, in all threads; needs a newer kernel */
  KEYDROME_TIGHTEN_MSEAL = 8         /* code and read-only data are sealed */
};

/* Applies the second stage to the process. Call this function once, from any thread; other threads
 * may run at the same time. `working_directory` is the working directory of the file rule above.
 * The function also sets no_new_privs and makes the process non-dumpable.
 *
 * Returns the layers in force, a mask of enum keydrome_tighten_layer. On a kernel without Landlock
 * and mseal the mask is KEYDROME_TIGHTEN_SECCOMP. On failure returns -1 and writes the cause into
 * `reason`: at most `capacity` bytes, always terminated if `capacity` > 0. */
int keydrome_tighten(const char* working_directory, char* reason, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
