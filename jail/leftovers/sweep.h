/* Implements the command `jail --sweep`: removes the leftovers of jails that were killed with
 * SIGKILL and therefore could not clean up. A slot is the number that selects a jail's user and
 * control groups. */
#ifndef KEYDROME_JAIL_LEFTOVERS_SWEEP_H_
#define KEYDROME_JAIL_LEFTOVERS_SWEEP_H_

#include "jail/options/options.h"

/* Sweeps every slot that no running jail uses and that no other process has reserved. A process
 * reserves a slot by holding an abstract Unix socket with the slot's name (slot_name.h). With
 * --slot, sweeps only the given slot, even if it is reserved.
 *
 * Sweeping a slot kills the processes of the slot's user and the processes in the slot's control
 * groups, and removes the groups. The function holds the slot's lock during this time, so that no
 * jail can start in the slot. It prints each leftover as a line on stdout. Returns false, with a
 * message on stderr, if a leftover could not be removed. */
bool sweep_all(const struct options* options);

#endif
