/* What the child side (init and the program before its exec) tells the jail over a pipe. One write
 * per report, smaller than PIPE_BUF, hence never torn. */
#ifndef KEYDROME_JAIL_REPORT_H_
#define KEYDROME_JAIL_REPORT_H_

#include <stdint.h>

#include "jail/util.h"

enum report_kind {
  REPORT_FAILED = 1, /* text: what could not be set up */
  REPORT_ENTERED,    /* init dies with its parent and no longer holds the slot: it may be stopped */
  REPORT_ENDED       /* the program is over and everything it left behind is dead */
};

struct report {
  uint32_t kind;
  int32_t wait_status;     /* ENDED: as waitpid gives it */
  uint32_t processes_left; /* ENDED: processes that outlived the program and were killed */
  uint32_t unused;
  uint64_t cpu_us; /* ENDED: user and system time of the program by its rusage */
  char text[kMaxMessage];
};

#endif
