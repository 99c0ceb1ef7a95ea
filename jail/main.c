/* jail: runs one untrusted program and kills every process that the program started.
 *
 * THEORY OF OPERATION
 *
 * Processes and their rights
 *
 *     caller              starts the jail, passes it descriptors, reads its meta lines
 *                         ("key:value": the isolation, and how the program ended; meta.h)
 *       jail (parent)     root, or an ordinary user with a user namespace; stays outside
 *         init (child)    PID 1 of the new namespaces; user 60000 + slot, no capabilities
 *           program       PID 2; the same user, with rlimits and a seccomp filter in addition
 *
 * The slot is a number that the caller chooses. Each running jail needs its own slot, which selects
 * its user and its control groups.
 *
 * Pipes and sockets
 *
 *     report pipe         child -> parent   FAILED, ENTERED, ENDED; end of file: init is dead
 *     alive pipe          parent -> child   one byte: the child may enter the network namespace;
 *                                           end of file: the parent is dead
 *     command channel     caller <-> parent freeze, thaw, usage, kill (--command-fd, command.h)
 *     meta descriptor     parent -> caller  level and outcome (--meta-fd)
 *     passed descriptors  caller <-> program (--pass-fd); the parent and init close their copies
 *
 * Steps of the parent
 *
 * 1. Parse the options.
 * 2. Lock the slot, remove the processes and control groups that an earlier, killed jail of the
 *    slot has left, make the control groups and set the limits. Refuse to start if the machine
 *    offers less isolation than --require.
 * 3. Start the child with clone3 in new mount, PID, IPC, UTS and cgroup namespaces, and in the v2
 *    control group. An ordinary user's child also gets a user namespace and a network namespace.
 * 4. As root, make the network namespace while the child builds its root directory.
 * 5. Watch the deadlines, the command channel and the child until init is dead.
 * 6. Remove the groups, write the meta lines, and check that nothing is left.
 *
 * Steps of the child. Each step gives up rights, or needs rights that a later step gives up.
 * Therefore the order matters.
 *
 * 1. Ask the kernel to kill this process when the parent dies.
 * 2. Enter the v1 groups, close the inherited descriptor of the slot's lock, report ENTERED. The
 *    parent may freeze the child from this step on.
 * 3. As an ordinary user, map user and group in the user namespace.
 * 4. Mark all descriptors except the passed ones close-on-exec.
 * 5. Build the read-only root and switch to it.
 * 6. Set the host name, start a session, open the program, enter the network namespace.
 * 7. Give up privileges: empty the bounding set, lock the secure bits, drop the groups, become user
 *    60000 + slot, clear the capabilities, set no_new_privs, become non-dumpable. Then repeat step
 *    1, because the kernel clears that request when the user changes.
 * 8. Start PID 2, which resets the signals, sets the rlimits, loads the filter and executes the
 *    program.
 * 9. Close all descriptors except the report pipe, and reap processes.
 *
 * How processes end
 *
 * - The program exits: init kills all other processes, reaps them, reports ENDED and exits.
 * - A deadline passes, the caller sends kill or closes the command channel, or the jail gets
 *   SIGTERM, SIGINT or SIGHUP: the parent writes cgroup.kill and kills init.
 * - Init dies: the kernel kills every process of its PID namespace. The parent sees end of file on
 *   the report pipe.
 * - The parent dies: the kernel kills init. The control groups remain until the next jail of the
 *   slot or `jail --sweep` removes them. Processes that a v1 freezer has frozen die only when the
 *   next jail or the sweep thaws them.
 * - The process tree reaches its memory limit: with v1 groups the kernel kills the program, with v2
 *   it kills every process of the group, init included.
 * - A step of the child fails: the child reports FAILED and exits. The parent repeats the message
 *   and exits with EXIT_JAIL_FAILED.
 *
 * While the program runs, and afterwards, no process outside the jail opens a path inside it.
 * Results leave the jail only over the passed descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/filesystem/mounts.h"
#include "jail/leftovers/find.h"
#include "jail/leftovers/sweep.h"
#include "jail/meta.h"
#include "jail/process/supervise.h"
#include "jail/support/die.h"
#include "jail/support/slot_name.h"

static struct cgroups cgroups;

/* Clean-up function for die(): a jail that fails removes its groups. */
static void remove_groups(void) {
  if (!cgroup_remove(&cgroups)) {
    dprintf(STDERR_FILENO,
            "jail: when its processes have ended, run jail --sweep, which removes this group\n");
  }
}

/* Returns the mechanisms that do not depend on control groups. cgroup_create adds the others. If
 * the jail cannot set up one of the returned mechanisms, it fails instead of reporting a lower
 * level, because most of them exist on every supported machine. SECCOMP and NOSYMFOLLOW can be
 * disabled by --without, and NOSYMFOLLOW needs Linux 5.14. */
static uint32_t basic_mechanisms(const struct options* options) {
  static const enum mechanism always[] = {MECHANISM_NAMESPACES, MECHANISM_ROOT,
                                          MECHANISM_CAPABILITIES, MECHANISM_NO_NEW_PRIVS,
                                          MECHANISM_RLIMITS};
  uint32_t mechanisms = mechanism_bit(options->has_root ? MECHANISM_UID : MECHANISM_USER_NAMESPACE);
  for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
    mechanisms |= mechanism_bit(always[i]);
  }
  if (!options_disabled(options, DISABLED_SECCOMP)) {
    mechanisms |= mechanism_bit(MECHANISM_SECCOMP);
  }
  if (!options_disabled(options, DISABLED_NOSYMFOLLOW) && mounts_nosymfollow_works()) {
    mechanisms |= mechanism_bit(MECHANISM_NOSYMFOLLOW);
  }
  return mechanisms;
}

/* Reports that this machine offers less than --require, and lists the mechanisms that --require
 * needs in addition. */
static void refuse(const struct options* options, const struct isolation* isolation) {
  char missing[256];
  char message[1024];
  const char* required = level_name(options->require);
  isolation_list(isolation_lacking(isolation->mechanisms, options->require), missing,
                 sizeof missing);
  snprintf(message, sizeof message,
           "isolation level %s is required, but this machine offers only level %s, because these "
           "mechanisms of the jail are missing: %s%s%s%s; %s how to get them",
           required, level_name(isolation_level(isolation->mechanisms)), missing,
           isolation->note[0] ? " (" : "", isolation->note, isolation->note[0] ? ")" : "",
           options->check ? "the remedy lines of this output say" : "jail --check says");
  dprintf(STDERR_FILENO, "jail: refused: %s\n", message);
  if (options->meta_fd >= 0) {
    dprintf(options->meta_fd, "status:refused\nerror:%s\n", message);
  }
}

/* Opens /dev/null for each of descriptors 0 to 2 that the caller has closed, so that no other file
 * gets one of these numbers. */
static void fill_standard_descriptors(void) {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd < 0) {
    die_errno("create it with `mknod -m 666 /dev/null c 1 3`", "cannot open /dev/null");
  }
  close(fd);
}

/* Writes the meta line `left`, which lists what the jail has left on the machine. If it has left
 * anything, ends the process with an error, because leftovers disturb later runs and may have
 * influenced this run. */
static void report_leftovers(const struct options* options, const struct leftovers_baseline* before,
                             bool removed) {
  char detail[400];
  const char* left = leftovers_find(before, options, removed, detail, sizeof detail);
  if (options->meta_fd >= 0) {
    dprintf(options->meta_fd, "left:%s\n", *left ? left : "nothing");
  }
  if (*left) {
    die("the jail could not clean up, and has left on this machine: %s", detail);
  }
}

/* Picks a free slot for --check, so that --check succeeds while another jail runs in slot 0, the
 * default. Holds the slot's name until this process ends, so that no other process takes the slot
 * (slot_name.h). Tries only the slots from kFirstLocalSlot on, which are meant for programs that a
 * person starts by hand. If all of them are reserved, --check uses slot 0, and fails if a jail runs
 * there. */
static void pick_slot(struct options* options) {
  int name;
  for (int slot = kSlots - 1; slot >= kFirstLocalSlot; slot--) {
    if (slot_name_take(slot, &name)) {
      options->slot = slot;
      return;
    }
  }
}

/* Completes the options with the caller's rights and, for --check, a free slot. */
static void complete(struct options* options) {
  options->has_root = geteuid() == 0;
  die_set_root(options->has_root);
  options->caller_user = geteuid();
  options->caller_group = getegid();
  if (options->check && !options->slot_given) {
    pick_slot(options);
  }
}

/* Keeps the error of the first write that failed: later calls may change errno. */
static void note_error(bool written, int* error) {
  if (!written && !*error) {
    *error = errno;
  }
}

int main(int argc, char** argv) {
  struct options options;
  struct isolation isolation = {.mechanisms = 0};
  struct outcome outcome = {.status = STATUS_EXITED};
  struct leftovers_baseline before;
  fill_standard_descriptors();
  options_parse(&options, argc, argv);
  complete(&options);
  if (options.sweep) {
    return sweep_all(&options) ? 0 : EXIT_JAIL_FAILED;
  }
  leftovers_note_baseline(&before);
  isolation.mechanisms = basic_mechanisms(&options);
  cgroup_init(&cgroups);
  die_set_clean_up(remove_groups);
  cgroup_create(&cgroups, &options, &isolation);
  bool enough = isolation_level(isolation.mechanisms) >= options.require;
  if (enough || options.check) {
    /* With --check the child sets everything up, and exits where it would execute the program. */
    supervise(&options, &cgroups, &outcome);
  }
  die_set_clean_up(NULL);
  bool removed = cgroup_remove(&cgroups);
  int meta = options.check ? STDOUT_FILENO : options.meta_fd;
  int error = 0;
  note_error(meta < 0 || meta_write_isolation(meta, &isolation, &options), &error);
  if (options.check) {
    note_error(meta_write_hints(meta, &isolation, &options), &error);
  }
  report_leftovers(&options, &before, removed);
  if (!enough) {
    refuse(&options, &isolation);
    return EXIT_JAIL_REFUSED;
  }
  if (!options.check && meta >= 0) {
    note_error(meta_write_outcome(meta, &outcome), &error);
  }
  if (error) {
    die("cannot write the jail's report to descriptor %d: %s; if it is a pipe, keep the reading "
        "end open until the jail ends; if it is a file, free space on its disk",
        meta, strerror(error));
  }
  return 0;
}
