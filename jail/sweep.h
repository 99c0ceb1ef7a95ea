/* Clears away what jails left behind that were killed hard. */
#ifndef KEYDROME_JAIL_SWEEP_H_
#define KEYDROME_JAIL_SWEEP_H_

#include "jail/options.h"

/* For every slot that no running jail holds, or the one of --slot: kills the processes of its user
 * and what is in its groups, and removes the groups. Running jails are not touched, and none can
 * start on a slot while that is swept. Says on stdout what it found, a line each. False, with a
 * message on stderr, if something could not be removed. */
bool sweep_all(const struct options* options);

#endif
