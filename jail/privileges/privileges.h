/* Removes all privileges of the process that will run the program: its user, its groups and its
 * capabilities. Each function ends the process if one of the steps fails. */
#ifndef KEYDROME_JAIL_PRIVILEGES_PRIVILEGES_H_
#define KEYDROME_JAIL_PRIVILEGES_PRIVILEGES_H_

#include "jail/options/options.h"

/* Only for a jail that an ordinary user started: maps user and group 60000 + slot of the new user
 * namespace to this user and its group outside. The slot is the number of --slot. */
void privileges_map(const struct options* options);

/* Switches to user and group 60000 + slot, without supplementary groups and capabilities. Empties
 * the bounding set, locks the secure bits and sets no_new_privs, so that no capability can be
 * regained. Also makes the process non-dumpable, so that other processes of the same user cannot
 * trace it. */
void privileges_drop(const struct options* options);

#endif
