/* Advice for people: one sentence on what to do about a missing isolation mechanism or a refused
 * setup step. `jail --check` prints the advice on mechanisms; error messages contain the advice on
 * setup steps. */
#ifndef KEYDROME_JAIL_ISOLATION_HINT_H_
#define KEYDROME_JAIL_ISOLATION_HINT_H_

#include "jail/isolation/isolation.h"
#include "jail/options/options.h"

/* The setup steps that machines and containers commonly refuse. */
enum hint {
  HINT_NAMESPACES,       /* root cannot make the namespaces */
  HINT_USER_NAMESPACE,   /* an ordinary user cannot make a user namespace, or map users in it */
  HINT_MOUNTS,           /* the jail cannot change its mounts */
  HINT_CLONE_INTO_CGROUP /* clone3 cannot start the jail's child process in its v2 control group */
};

/* Ends the process with a message of three parts: `what`, the text of errno, and advice for this
 * machine. */
_Noreturn void die_with_hint(enum hint hint, const char* what);

/* Returns the advice for a missing mechanism, or NULL for a mechanism that is never missing. */
const char* hint_for_mechanism(const struct isolation* isolation, const struct options* options,
                               enum mechanism mechanism);

/* Returns what follows the advice: for a mechanism that does not affect the isolation level, a
 * remark that says so, otherwise "". */
const char* hint_about_level(enum mechanism mechanism);

#endif
