/* Resource limits of the process and its privileges. Each function ends the process if anything
 * cannot be had. */
#ifndef KEYDROME_JAIL_LIMITS_H_
#define KEYDROME_JAIL_LIMITS_H_

#include "jail/options.h"

/* Sets the rlimits for the program. RLIMIT_AS is left alone: honest indexes reserve far more than
 * they use. */
void limits_apply(const struct options* options);

/* Lets this process open as many files as it may, so that descriptors above the program's limit can
 * exist. */
void limits_raise_open_files(void);

/* In the user namespace of an ordinary caller: maps user and group 60000 + slot to the caller's. */
void privileges_map(const struct options* options);

/* Becomes user and group 60000 + slot without any privilege, and without a way to regain one. */
void privileges_drop(const struct options* options);

#endif
