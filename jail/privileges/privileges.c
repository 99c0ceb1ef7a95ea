/* Implements jail/privileges/privileges.h: the calling process gives up its user, groups and
 * capabilities, and checks that its permitted set of capabilities is empty. */
#include "jail/privileges/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/isolation/hint.h"
#include "jail/support/die.h"
#include "jail/support/files.h"

static void empty_bounding_set(void) {
  /* The kernel numbers its capabilities without gaps, and returns EINVAL for the number after the
   * last one. The kernel also allows dropping a capability that is not in the set. So the code
   * drops every capability without reading the set first, which halves the number of calls. */
  unsigned long capability = 0;
  while (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0) {
    capability++;
  }
  if (errno != EINVAL) {
    die_step("cannot drop capability %lu from the bounding set (PR_CAPBSET_DROP)", capability);
  }
  const unsigned long locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
                               SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                               SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (prctl(PR_SET_SECUREBITS, locked, 0, 0, 0) < 0) {
    die_step("cannot lock the secure bits (PR_SET_SECUREBITS)");
  }
}

/* Clears the permitted, effective and inheritable sets. Then reads the permitted set back, and ends
 * the process if the set is not empty. */
static void clear_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  memset(data, 0, sizeof data);
  if (syscall(SYS_capset, &header, data) < 0) {
    die_step("cannot clear the capabilities (capset)");
  }
  if (syscall(SYS_capget, &header, data) < 0) {
    die_step("cannot read the capabilities back (capget)");
  }
  if (data[0].permitted || data[1].permitted) {
    die("the jail cleared all capabilities with capset, but the kernel kept some (mask %08x%08x), "
        "so the jail does not run the program; " PLEASE_REPORT,
        data[1].permitted, data[0].permitted);
  }
}

void privileges_map(const struct options* options) {
  const struct {
    const char* file;
    unsigned int outside;
  } maps[] = {{"/proc/self/uid_map", options->caller_user},
              {"/proc/self/gid_map", options->caller_group}};
  /* The kernel lets an ordinary user map its own group only after setgroups has been denied. */
  int error = write_file_at(AT_FDCWD, "/proc/self/setgroups", "deny");
  for (size_t i = 0; i < 2 && error == 0; i++) {
    char line[64];
    snprintf(line, sizeof line, "%u %u 1", options_user(options), maps[i].outside);
    error = write_file_at(AT_FDCWD, maps[i].file, line);
  }
  if (error) {
    errno = error;
    die_with_hint(HINT_USER_NAMESPACE, "cannot map the user and group of the jail");
  }
}

void privileges_drop(const struct options* options) {
  uid_t id = (uid_t)options_user(options);
  empty_bounding_set();
  /* In a user namespace that an ordinary user made, privileges_map() has denied setgroups. */
  if (options->has_root && setgroups(0, NULL) < 0) {
    die_step("cannot drop the supplementary groups (setgroups)");
  }
  if (setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0) {
    die_step("cannot become user and group %u (setresuid)", id);
  }
  clear_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
    die_step("cannot set no_new_privs (PR_SET_NO_NEW_PRIVS)");
  }
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) {
    die_step("cannot make the process non-dumpable (PR_SET_DUMPABLE)");
  }
}
