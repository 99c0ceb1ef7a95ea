/* What must not be there any more when a jail is over. The kernel has promised all of it by then
 * (the init is reaped, and with it its PID namespace); this looks. */
#ifndef KEYDROME_JAIL_LEFT_H_
#define KEYDROME_JAIL_LEFT_H_

#include <sys/types.h>

#include "jail/options.h"

/* What was so before the jail. */
struct left {
  dev_t place; /* the device under the folder on which the child builds its root */
};

void left_before(struct left* left);

/* To be called when the groups are gone, `groups_removed` if all of them are. Returns the names of
 * what is left, separated by commas, empty for nothing; `detail` says more about it for people. */
const char* left_after(const struct left* left, const struct options* options, bool groups_removed,
                       char* detail, size_t capacity);

#endif
