/* What to do about what is missing or refused: one sentence each, for --check and for errors. */
#ifndef KEYDROME_JAIL_REMEDY_H_
#define KEYDROME_JAIL_REMEDY_H_

#include "jail/facts.h"

enum remedy {
  REMEDY_NAMESPACES,     /* root could not make them */
  REMEDY_USER_NAMESPACE, /* an ordinary user could not */
  REMEDY_MOUNTS,
  REMEDY_BIRTH /* the child could not be born in its v2 group */
};

/* Ends the process: `what`, the meaning of errno, and what to do about it on this machine. */
_Noreturn void remedy_die(enum remedy remedy, const char* what);

/* What to do about a missing mechanism; NULL if it is never missing. */
const char* remedy_mechanism(const struct facts* facts, enum mechanism mechanism);

#endif
