/* Sets the resource limits (setrlimit) of the program and of the jail itself. */
#ifndef KEYDROME_JAIL_PRIVILEGES_RLIMITS_H_
#define KEYDROME_JAIL_PRIVILEGES_RLIMITS_H_

#include "jail/options/options.h"

/* Sets the limits of the program in the calling process. Does not lower RLIMIT_AS, because harmless
 * libraries reserve far more address space than they use. Ends the process if a limit cannot be
 * set. */
void rlimits_apply(const struct options* options);

/* Raises RLIMIT_NOFILE of the jail itself to its hard limit. The jail needs a descriptor number
 * above the program's limit: kExecDescriptor of filter/filter.h. Ends the process if the limit
 * cannot be raised far enough. */
void rlimits_raise_open_files(void);

#endif
