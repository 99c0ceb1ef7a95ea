/* Builds the file system that the jailed program sees: a new read-only root with the system
 * libraries, three devices, the files of --bind, and the writable folder /work. */
#ifndef KEYDROME_JAIL_FILESYSTEM_MOUNTS_H_
#define KEYDROME_JAIL_FILESYSTEM_MOUNTS_H_

#include "jail/options/options.h"

/* The folder on which the jail's child process mounts the new root while it builds the root. The
 * mount exists only in the child's own mount namespace. Every machine has /tmp; any other folder
 * would do as well. */
static const char kMountsPlace[] = "/tmp";

/* Returns true if the kernel knows the mount attribute MOUNT_ATTR_NOSYMFOLLOW (Linux 5.14 for bind
 * mounts). In a mount with this attribute, the kernel follows no symbolic links. */
bool mounts_nosymfollow_works(void);

/* Builds the new root in the calling process's mount namespace and switches to it, so that the old
 * root is out of reach. The new root is a tmpfs of 1 MiB with at most 1024 files, which becomes
 * read-only after it has been filled. The current directory becomes /work, or / with
 * --tmpfs-bytes 0. Ends the process on failure. */
void mounts_enter(const struct options* options);

/* Checks that the program's user can read the target of each --bind. If not, ends the process with
 * advice. The calling process must already run as that user. */
void mounts_check_readable(const struct options* options);

#endif
