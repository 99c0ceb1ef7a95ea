/* The second stage of the jail: what a program gives up itself, for good, once everything it needs
 * is loaded.
 *
 * Linked statically into the program (target jail_tighten); needs libc only. After the call, in the
 * whole process:
 * - no execve, no further seccomp filter, no prctl but thread names, no new Landlock rules;
 * - no memory may become executable (mmap and mprotect with PROT_EXEC are refused);
 * - what is loaded stays as it is: code, and data that is read-only after relocation (the tables of
 * functions among it), can neither be made writable nor unmapped nor replaced (mseal, Linux 6.10);
 * - in the calling thread and threads that it starts, files can be opened only beneath the working
 * directory, plus /dev/null, /dev/zero and /dev/urandom (Landlock). Refused calls return EPERM or
 * EACCES; nothing is killed. Shared libraries that are needed later (libgcc_s for pthread_exit and
 * unwinding) must be loaded before, since dlopen of a file does not work afterwards.
 *
 * It defends against code that becomes hostile after loading. A constructor ran in this process
 * before and may have changed anything in it, this function included: what must hold against
 * constructors is the jail's own filter. */
#ifndef KEYDROME_JAIL_TIGHTEN_H_
#define KEYDROME_JAIL_TIGHTEN_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum keydrome_tighten_layer {
  KEYDROME_TIGHTEN_SECCOMP = 1, /* the filter, in all threads; without it the call fails */
  KEYDROME_TIGHTEN_LANDLOCK =
      2, /* the opening rule, in the calling thread and its future threads */
  KEYDROME_TIGHTEN_LANDLOCK_ALL =
      4, /* the opening rule in all threads (kernels whose Landlock can synchronise) */
  KEYDROME_TIGHTEN_MSEAL = 8 /* code and read-only data of all that is loaded is sealed */
};

/* Tightens the process. `working_directory` is the only folder in which files may be opened.
 * Returns the layers that hold, a bit mask of enum keydrome_tighten_layer; a kernel without
 * Landlock and mseal gives KEYDROME_TIGHTEN_SECCOMP alone. Returns -1 when the process could not be
 * tightened, and writes why into `reason` (at most `capacity` bytes, always terminated when
 * capacity > 0). Call once, from one thread; other threads may run. Sets no_new_privs and makes the
 * process non-dumpable. */
int keydrome_tighten(const char* working_directory, char* reason, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
