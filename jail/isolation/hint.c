/* Implements jail/isolation/hint.h: advises a person what to do when this machine refuses a setup
 * step of the jail or lacks an isolation mechanism. The advice depends on the cause: rights, a
 * kernel setting, or a container. */
#include "jail/isolation/hint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "jail/support/die.h"
#include "jail/support/files.h"

static bool sysctl_is(const char* path, uint64_t value) {
  uint64_t number;
  return read_number_at(AT_FDCWD, path, &number) && number == value;
}

static const char* user_namespace(int error) {
  if (sysctl_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1)) {
    return "AppArmor denies user namespaces to ordinary users (Ubuntu 23.10 and newer): start the "
           "jail as root, or as root run: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  }
  if (sysctl_is("/proc/sys/kernel/unprivileged_userns_clone", 0)) {
    return "this machine denies user namespaces to ordinary users: start the jail as root, or as "
           "root run: sysctl -w kernel.unprivileged_userns_clone=1";
  }
  if (sysctl_is("/proc/sys/user/max_user_namespaces", 0)) {
    return "this machine allows no user namespaces: start the jail as root, or as root run: "
           "sysctl -w user.max_user_namespaces=10000";
  }
  if (error == ENOSPC) {
    return "a limit of user namespaces is reached: start the jail as root, end programs that use "
           "such namespaces, or as root raise the limit: sysctl -w user.max_user_namespaces=N, "
           "where N is twice the present value";
  }
  return "start the jail as root; in a container, its seccomp profile must allow clone3, mount and "
         "pivot_root, as deploy/seccomp-bench.json does";
}

static const char* sentence(enum hint hint, int error) {
  switch (hint) {
    case HINT_USER_NAMESPACE:
      return user_namespace(error);
    case HINT_NAMESPACES:
      return "root needs CAP_SYS_ADMIN; in a container, set cap_add SYS_ADMIN and a seccomp "
             "profile that allows clone3 and unshare, as docker-compose.yml does";
    case HINT_MOUNTS:
      if (error == EINVAL) {
        return "the jail needs a root that is a mount: for a chroot, mount --bind its folder onto "
               "itself first, or start the jail outside the chroot";
      }
      return error == EACCES
                 ? "AppArmor denies mounts in this container: start the container (in "
                   "docker-compose.yml, the service bench) with security_opt "
                   "apparmor=unconfined, or with a profile that allows mount"
                 : "in a container, set cap_add SYS_ADMIN and a seccomp profile that allows "
                   "mount, as docker-compose.yml does";
    case HINT_CLONE_INTO_CGROUP:
      return "an ordinary user must start the jail from inside the control groups that root "
             "delegated to this user: put systemd-run --user --scope -p Delegate=yes in front of "
             "the command";
    default:
      return "jail --check says what this machine lacks";
  }
}

void die_with_hint(enum hint hint, const char* what) {
  int error = errno;
  die("%s: %s; %s", what, strerror(error), sentence(hint, error));
}

#define NO_HIERARCHY(controller)                                                               \
  "no mounted hierarchy of control groups has the files of this mechanism: as root mount the " \
  "controller: mkdir /sys/fs/cgroup/" controller "; mount -t cgroup -o " controller            \
  " none /sys/fs/cgroup/" controller

/* Advice if the control groups are mounted, but none has the files of this mechanism. */
static const char* no_hierarchy(enum mechanism mechanism) {
  switch (mechanism) {
    case MECHANISM_MEMORY:
      return NO_HIERARCHY("memory");
    case MECHANISM_PIDS:
      return NO_HIERARCHY("pids");
    case MECHANISM_CPU_TIME:
      return NO_HIERARCHY("cpuacct");
    case MECHANISM_FREEZE:
      return NO_HIERARCHY("freezer");
    default:
      return NO_HIERARCHY("cpuset");
  }
}

static const char* control_groups(const struct isolation* isolation, const struct options* options,
                                  enum mechanism mechanism) {
  static const char without_unified[] = "remove the option --without unified";
  const bool is_unified_disabled = options_disabled(options, DISABLED_UNIFIED);
  switch (isolation->trouble) {
    case TROUBLE_DISABLED:
      return "remove the option --without cgroup";
    case TROUBLE_NOT_MOUNTED:
      return is_unified_disabled
                 ? without_unified
                 : "mount control groups: mount -t cgroup2 none /sys/fs/cgroup; in a container, "
                   "add the volume /sys/fs/cgroup:/sys/fs/cgroup:rw";
    case TROUBLE_NOT_WRITABLE:
      return options->has_root
                 ? "make the control groups writable; in a container, add the volume "
                   "/sys/fs/cgroup:/sys/fs/cgroup:rw"
                 : "start the jail as root, or let root delegate a group to you and name it with "
                   "--cgroup-parent (systemd-run --user --scope -p Delegate=yes makes one)";
    case TROUBLE_NOT_READABLE:
      return "the jail cannot read the path in the note above: if the path exists, let the user "
             "who starts the jail read it, or name another group with --cgroup-parent; if a file "
             "cpuset.mems does not exist, mount its hierarchy with -t cgroup -o cpuset (not with "
             "-t cpuset or noprefix)";
    case TROUBLE_EMPTY:
      return "the file in the note above is empty, so no group below can use memory: as root write "
             "the numbers of memory nodes to this file (0 if the machine has one node), or name "
             "another group with --cgroup-parent";
    case TROUBLE_NO_CONTROLLER:
      return "the parent of the jail's control group does not offer the controller of this "
             "mechanism: as root write the controller's name with a plus, such as +memory, to "
             "cgroup.subtree_control of each group above the parent; if a v1 hierarchy uses the "
             "controller, boot with cgroup_no_v1=all";
    case TROUBLE_BUSY:
      return "the parent group contains processes, so the kernel enables no controllers for its "
             "children: name a group without processes with --cgroup-parent; in a container, use "
             "the host's hierarchy (docker run --cgroupns=host, or cgroup: host in a compose file)";
    default:
      return is_unified_disabled ? without_unified : no_hierarchy(mechanism);
  }
}

/* Advice if the jail has no file cgroup.kill, which only groups of a v2 hierarchy have. */
static const char* cgroup_kill_file(const struct isolation* isolation,
                                    const struct options* options) {
  if (options_disabled(options, DISABLED_UNIFIED)) {
    return "remove the option --without unified";
  }
  if (strcmp(isolation->backend, "none") == 0) {
    return control_groups(isolation, options, MECHANISM_KILL);
  }
  return strcmp(isolation->backend, "v1") == 0
             ? "mount a cgroup v2 hierarchy in which the jail may make groups, on Linux 5.14 or "
               "newer"
             : "use Linux 5.14 or newer";
}

const char* hint_for_mechanism(const struct isolation* isolation, const struct options* options,
                               enum mechanism mechanism) {
  switch (mechanism) {
    case MECHANISM_UID:
      return "start the jail as root: only root can give the program a separate user";
    case MECHANISM_SECCOMP:
      return "remove the option --without seccomp";
    case MECHANISM_MEMORY:
    case MECHANISM_PIDS:
    case MECHANISM_CPU_TIME:
    case MECHANISM_FREEZE:
    case MECHANISM_CPUSET:
      return control_groups(isolation, options, mechanism);
    case MECHANISM_KILL:
      return cgroup_kill_file(isolation, options);
    case MECHANISM_NOSYMFOLLOW:
      return options_disabled(options, DISABLED_NOSYMFOLLOW)
                 ? "remove the option --without nosymfollow"
                 : "use Linux 5.14 or newer";
    default:
      return NULL;
  }
}

const char* hint_about_level(enum mechanism mechanism) {
  switch (mechanism) {
    case MECHANISM_KILL:
      return "; the isolation level does not depend on this mechanism, because ending the PID "
             "namespace also kills all processes of the jail";
    case MECHANISM_CPUSET:
      return "; the isolation level does not depend on this mechanism, because it changes "
             "measurements, not isolation";
    case MECHANISM_NOSYMFOLLOW:
      return "; the isolation level does not depend on this mechanism, because no process outside "
             "the jail opens a path inside the jail";
    default:
      return "";
  }
}
