#include "jail/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/remedy.h"
#include "jail/seccomp.h"
#include "jail/util.h"

/* By number: C libraries disagree about the type of a resource's name. */
static int call_prlimit(int resource, const struct rlimit* wanted, struct rlimit* found) {
  return (int)syscall(SYS_prlimit64, 0, resource, wanted, found);
}

/* Sets soft and hard limit, or leaves a hard limit that is already lower (it could not be raised
 * anyway). */
static void set_limit(int resource, const char* name, rlim_t value) {
  struct rlimit limit;
  if (call_prlimit(resource, NULL, &limit) < 0) {
    die_errno("getrlimit %s", name);
  }
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < value) {
    value = limit.rlim_max;
  }
  limit.rlim_cur = limit.rlim_max = value;
  if (call_prlimit(resource, &limit, NULL) < 0) {
    die_errno("setrlimit %s", name);
  }
}

void limits_apply(const struct options* options) {
  /* 1, not 0: the kernel pipes core dumps to a handler program whatever the limit, except when it
   * is 1; and a core file of one byte is never written. */
  set_limit(RLIMIT_CORE, "CORE", 1);
  set_limit(RLIMIT_MEMLOCK, "MEMLOCK", 0);
  set_limit(RLIMIT_MSGQUEUE, "MSGQUEUE", 0);
  set_limit(RLIMIT_NICE, "NICE", 0);
  set_limit(RLIMIT_RTPRIO, "RTPRIO", 0);
  set_limit(RLIMIT_SIGPENDING, "SIGPENDING", 1024);
  set_limit(RLIMIT_FSIZE, "FSIZE", options->file_bytes);
  set_limit(RLIMIT_STACK, "STACK", options->stack_bytes);
  set_limit(RLIMIT_NOFILE, "NOFILE", options->open_files);
  /* Counted per user; the init of the jail is one of them. The pids cgroup limits the same, where
   * there is one. */
  set_limit(RLIMIT_NPROC, "NPROC", options->processes + 1);
  if (options->cpu_seconds) {
    /* The jail itself watches the CPU time where cgroups tell it. The kernel counts this limit in
     * ticks, which can run ahead, so that it gets a second more. */
    set_limit(RLIMIT_CPU, "CPU", options->cpu_seconds + 1);
  }
}

void limits_raise_open_files(void) {
  enum { kNeeded = kExecDescriptor + 8 };
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
    die_errno("getrlimit NOFILE");
  }
  const rlim_t allowed = limit.rlim_max;
  if (allowed < kNeeded) {
    limit.rlim_max = kNeeded; /* what the kernel starts with is just too low; root may raise it */
  }
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) < 0) {
    die("the jail itself must be allowed to open %d files, not %llu: raise the hard limit (ulimit "
        "-Hn)",
        kNeeded, (unsigned long long)allowed);
  }
}

static void drop_capabilities(void) {
  /* Dropping one that is not there is no error, and asking first would cost as much again; the
   * numbers that the kernel knows have no gap. */
  unsigned long capability = 0;
  while (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0) {
    capability++;
  }
  if (errno != EINVAL) {
    die_errno("cannot drop capability %lu from the bounding set", capability);
  }
  const unsigned long locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
                               SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                               SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (prctl(PR_SET_SECUREBITS, locked, 0, 0, 0) < 0) {
    die_errno("cannot lock the secure bits");
  }
}

/* Takes the sets away explicitly and looks whether they are gone. */
static void clear_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  memset(data, 0, sizeof data);
  if (syscall(SYS_capset, &header, data) < 0) {
    die_errno("cannot clear the capabilities");
  }
  if (syscall(SYS_capget, &header, data) < 0 || data[0].permitted || data[1].permitted) {
    die("the capabilities are still there after they were dropped");
  }
}

/* The kernel lets an ordinary user map one user, itself, once it has given up changing groups. */
void privileges_map(const struct options* options) {
  const struct {
    const char* file;
    unsigned int outside;
  } maps[] = {{"/proc/self/uid_map", options->caller_user},
              {"/proc/self/gid_map", options->caller_group}};
  int error = write_file_at(AT_FDCWD, "/proc/self/setgroups", "deny");
  for (size_t i = 0; i < 2 && error == 0; i++) {
    char line[64];
    snprintf(line, sizeof line, "%u %u 1", options_user(options), maps[i].outside);
    error = write_file_at(AT_FDCWD, maps[i].file, line);
  }
  if (error) {
    errno = error;
    remedy_die(REMEDY_USER_NAMESPACE, "cannot map the user of the jail");
  }
}

void privileges_drop(const struct options* options) {
  uid_t id = (uid_t)options_user(options);
  drop_capabilities();
  /* A user namespace that an ordinary user has made never lets groups be changed. */
  if (options->has_root && setgroups(0, NULL) < 0) {
    die_errno("cannot drop the groups");
  }
  if (setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0) {
    die_errno("cannot become user %u", id);
  }
  clear_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
    die_errno("no_new_privs");
  }
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) {
    die_errno("dumpable");
  }
}
