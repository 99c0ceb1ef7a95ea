/* The file system that the program sees. */
#ifndef KEYDROME_JAIL_MOUNTS_H_
#define KEYDROME_JAIL_MOUNTS_H_

#include "jail/options.h"

/* Any folder that every machine has serves as the place of the new root while it is built; in the
 * jail's namespace only. */
static const char kMountsPlace[] = "/tmp";

/* True if the kernel can refuse to follow symbolic links on a mount (5.14 for bind mounts). */
bool mounts_nosymfollow_works(void);

/* Builds the new root in the caller's own mount namespace and enters it: a tmpfs, read-only once it
 * is filled, with the system libraries, three devices, the binds and the working directory /work.
 * Nothing of the old root stays reachable. The current directory becomes /work, or / without one.
 * Ends the process on failure. */
void mounts_enter(const struct options* options);

/* Ends the process with advice if the program's user cannot read a bind. To be called as that user.
 */
void mounts_check_readable(const struct options* options);

#endif
