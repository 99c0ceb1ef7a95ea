/* The lines "key:value" that tell a caller what the jail was and how the program ended. */
#ifndef KEYDROME_JAIL_META_H_
#define KEYDROME_JAIL_META_H_

#include "jail/facts.h"
#include "jail/options.h"
#include "jail/supervise.h"

/* Writes what the jail is made of; false if the descriptor does not take it. */
bool meta_write_facts(int fd, const struct facts* facts, const struct options* options);

/* Writes what to do about each missing mechanism: "remedy_NAME:". */
bool meta_write_remedies(int fd, const struct facts* facts, const struct options* options);

/* Writes how the program ended. */
bool meta_write_outcome(int fd, const struct outcome* outcome);

#endif
