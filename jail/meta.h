/* Writes the output of the jail: lines "key:value" on the meta descriptor, or on stdout for
 * --check. The lines report which isolation was in force and how the program ended. Other programs
 * parse them; docs/reference/jail.md lists the keys. */
#ifndef KEYDROME_JAIL_META_H_
#define KEYDROME_JAIL_META_H_

#include "jail/isolation/isolation.h"
#include "jail/options/options.h"
#include "jail/process/supervise.h"

/* Writes the lines level, cgroup, mechanisms, missing and note. All functions of this header return
 * false if they cannot write to the descriptor. */
bool meta_write_isolation(int fd, const struct isolation* isolation, const struct options* options);

/* Writes one line "remedy_NAME:" for each missing mechanism that a person can make available. */
bool meta_write_hints(int fd, const struct isolation* isolation, const struct options* options);

/* Writes how the program ended, and how much time and memory it used. */
bool meta_write_outcome(int fd, const struct outcome* outcome);

#endif
