/* The message that the jail's init (PID 1), or the program's process before its exec, sends to the
 * jail's parent process over a pipe. A message is smaller than PIPE_BUF and is sent by one write,
 * so the parent never reads half a message. */
#ifndef KEYDROME_JAIL_SUPPORT_CHILD_REPORT_H_
#define KEYDROME_JAIL_SUPPORT_CHILD_REPORT_H_

#include <stdint.h>

#include "jail/support/die.h"

enum child_report_kind {
  REPORT_FAILED = 1, /* a setup step failed; `text` says which */
  /* The setup of init is complete, so the parent may freeze it. A frozen init must not outlive its
   * parent or block the jail's slot (--slot). So init now dies with its parent, and does not hold
   * the lock on the slot. */
  REPORT_ENTERED,
  REPORT_ENDED /* the program has ended, and all processes that it left are dead */
};

struct child_report {
  uint32_t kind;
  int32_t wait_status;     /* REPORT_ENDED: the program's status as from waitpid */
  uint32_t processes_left; /* REPORT_ENDED: processes that outlived the program and were killed */
  uint32_t unused;
  uint64_t cpu_us; /* REPORT_ENDED: user and system time of the program, from its rusage */
  char text[kMaxMessage];
};

#endif
