/* Reserves a slot by its name. A slot is the number that selects a jail's user and control groups.
 * The programs that start jails hold the name of their slot, even while no jail runs in the slot
 * (runner/slots.py). The jail itself takes names only for --sweep and --check, and only without
 * --slot, so that it does not use a slot of another program. */
#ifndef KEYDROME_JAIL_SUPPORT_SLOT_NAME_H_
#define KEYDROME_JAIL_SUPPORT_SLOT_NAME_H_

#include <stdbool.h>

/* Takes the name of a slot: the abstract Unix socket keydrome-slot-N. Returns false if another
 * process of this network namespace holds the name. Otherwise returns true and stores the socket in
 * `holder`; the name is taken until the socket is closed. If the kernel cannot bind such a name,
 * returns true and stores -1, so that the slot counts as free. */
bool slot_name_take(int slot, int* holder);

#endif
