/* Parses single option values of the jail. Each function ends the process if the value is not
 * allowed. The message names the option, the value and the allowed values. */
#ifndef KEYDROME_JAIL_OPTIONS_VALUES_H_
#define KEYDROME_JAIL_OPTIONS_VALUES_H_

#include <stdint.h>

#include "jail/options/options.h"

/* Returns a whole number in `min`..`max`, written only with digits. `name` is the option without
 * its dashes. */
uint64_t value_number(const char* name, const char* text, uint64_t min, uint64_t max);

/* Returns the number of an open descriptor of this process. */
int value_descriptor(const char* name, const char* text);

/* Parses --require: full, weak or none. */
enum level value_level(const char* text);

/* Parses --without: the name of a mechanism that can be disabled. */
enum disabled value_disabled(const char* text);

/* Parses --bind SOURCE:TARGET. Splits at the last colon, so SOURCE may contain colons. Modifies
 * `text`; the result points into it. */
struct bind value_bind(char* text);

/* Parses --cgroup-parent: a relative path without "..", because the jail appends it to the mount
 * points. */
const char* value_group(const char* text);

/* Parses --cpus: a list such as 0-1,3. Checks only the characters; the kernel checks the
 * processors. */
const char* value_cpus(const char* text);

#endif
