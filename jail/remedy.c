#include "jail/remedy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "jail/util.h"

static bool sysctl_is(const char* path, uint64_t value) {
  uint64_t number;
  return read_number_at(AT_FDCWD, path, &number) && number == value;
}

static const char* user_namespace(int error) {
  if (sysctl_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1)) {
    return "AppArmor keeps user namespaces from ordinary users (Ubuntu 23.10 and newer): start the "
           "jail as root, or as root run: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  }
  if (sysctl_is("/proc/sys/kernel/unprivileged_userns_clone", 0)) {
    return "start the jail as root, or as root run: sysctl -w kernel.unprivileged_userns_clone=1";
  }
  if (error == ENOSPC || sysctl_is("/proc/sys/user/max_user_namespaces", 0)) {
    return "start the jail as root, or as root run: sysctl -w user.max_user_namespaces=10000";
  }
  return "start the jail as root; in a container, its seccomp profile must allow clone3, mount and "
         "pivot_root, as deploy/seccomp-bench.json does";
}

static const char* sentence(enum remedy remedy, int error) {
  switch (remedy) {
    case REMEDY_USER_NAMESPACE:
      return user_namespace(error);
    case REMEDY_NAMESPACES:
      return "root needs CAP_SYS_ADMIN for it; in a container: cap_add SYS_ADMIN and a seccomp "
             "profile that allows clone3 and unshare, as docker-compose.yml has them";
    case REMEDY_MOUNTS:
      return error == EACCES
                 ? "AppArmor forbids mounts to this container: give the bench service "
                   "security_opt apparmor=unconfined, or a profile that allows mount"
                 : "in a container: cap_add SYS_ADMIN and a seccomp profile that allows "
                   "mount, as docker-compose.yml has them";
    case REMEDY_BIRTH:
      return "an ordinary user's jail must itself run in a group below --cgroup-parent, as "
             "systemd-run --user --scope -p Delegate=yes starts it";
    default:
      return "see jail --check";
  }
}

void remedy_die(enum remedy remedy, const char* what) {
  int error = errno;
  die("%s: %s; %s", what, strerror(error), sentence(remedy, error));
}

static const char* control_groups(const struct facts* facts) {
  const bool has_root = facts->mechanisms & mechanism_bit(MECHANISM_UID);
  switch (facts->trouble) {
    case TROUBLE_LEFT_OUT:
      return "leave out --without cgroup";
    case TROUBLE_NOT_MOUNTED:
      return "mount control groups: mount -t cgroup2 none /sys/fs/cgroup; a container gets the "
             "host's by the volume /sys/fs/cgroup:/sys/fs/cgroup:rw";
    case TROUBLE_NOT_WRITABLE:
      return has_root ? "make the control groups writable; a container needs the volume "
                        "/sys/fs/cgroup:/sys/fs/cgroup:rw"
                      : "start the jail as root, or let root hand over a group and name it with "
                        "--cgroup-parent (systemd-run --user --scope -p Delegate=yes makes one)";
    case TROUBLE_NO_CONTROLLER:
      return "the controller is not handed down to here: as root write +NAME to the "
             "cgroup.subtree_control of each group above; if v1 holds it, boot with "
             "cgroup_no_v1=all";
    case TROUBLE_BUSY:
      return "the group to make groups in has processes itself: name an empty one with "
             "--cgroup-parent; a container needs the host's hierarchy (cgroup: host)";
    default:
      return "the note says what the kernel refused";
  }
}

const char* remedy_mechanism(const struct facts* facts, enum mechanism mechanism) {
  switch (mechanism) {
    case MECHANISM_UID:
      return "start the jail as root: only root can give the program a user of its own";
    case MECHANISM_SECCOMP:
      return "leave out --without seccomp";
    case MECHANISM_MEMORY:
    case MECHANISM_PIDS:
    case MECHANISM_CPU_TIME:
    case MECHANISM_FREEZE:
    case MECHANISM_CPUSET:
      return control_groups(facts);
    case MECHANISM_KILL:
      return "needs Linux 5.14 and a mounted cgroup v2 hierarchy; decides nothing, since the tree "
             "dies with its PID namespace in any case";
    case MECHANISM_NOSYMFOLLOW:
      return "needs Linux 5.14; decides nothing, since nobody outside opens a path of the inside";
    default:
      return NULL;
  }
}
