/* Ends the jail after a failure: die() exits with a message that names the failed step. The jail
 * calls die() for every setup step that fails, because the jail must never run the program with
 * less isolation than it reports to its caller. The jail consists of a parent process outside, and
 * a child that becomes PID 1 inside. */
#ifndef KEYDROME_JAIL_SUPPORT_DIE_H_
#define KEYDROME_JAIL_SUPPORT_DIE_H_

#include <stdbool.h>

enum { EXIT_JAIL_FAILED = 2, EXIT_JAIL_REFUSED = 3, kMaxMessage = 480 };

/* Set the descriptor to which die() writes. -1, the initial value, means none.
 * - The parent sets the meta descriptor. die() writes the message to stderr, and the lines
 *   "status:failed\nerror:MESSAGE\n" to the meta descriptor.
 * - The child sets the report descriptor. die() then writes only a struct child_report of kind
 *   REPORT_FAILED to it, because stderr belongs to the program. The parent repeats the message on
 *   its own stderr. */
void die_set_meta_fd(int fd);
void die_set_report_fd(int fd);

/* Sets a function that die() calls in the parent before it writes the message, such as one that
 * removes the control groups. The function must not call die(). NULL, the initial value, means no
 * function. */
void die_set_clean_up(void (*function)(void));

/* Advice at the end of a message that only an error in the jail's own code can cause. Use the first
 * text if the error appears in every run with the same input. Use the second text if the error may
 * not appear again, for example because it depends on timing. */
#define PLEASE_REPORT "this is an error of Keydrome's jail: please report this message"
#define RETRY_OR_REPORT                                                                        \
  "this is an error of Keydrome's jail: repeat the run, and please report this message if it " \
  "appears again"

/* Sets whether root started the jail. The advice of die_step() depends on this. */
void die_set_root(bool root);

/* Ends the process with EXIT_JAIL_FAILED and a message. die_errno appends the text of errno and
 * `advice`, which says what the user can do. die_step appends the text of errno and advice about
 * this value of errno. It is for system calls that fail only if the machine refuses them or lacks a
 * resource. Control characters in the message become '?', because the message may contain a file
 * name and the meta output consists of lines. */
_Noreturn void die(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die_errno(const char* advice, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void die_step(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
