/* jail: runs one untrusted program.
 *
 * Order of steps: read the options; claim the slot and make the cgroups (cgroup.c); refuse if the
 * machine gives less than is required; start a child in new namespaces (supervise.c), which builds
 * the inside and drops every privilege (child.c, mounts.c, limits.c, seccomp.c) while the parent
 * puts it under its limits; watch; kill; look whether anything is left (left.c); write the meta
 * lines.
 *
 * Nothing outside ever opens a path of the inside once the program runs, and no result is read from
 * there: results come over descriptors that the caller passed in. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "jail/left.h"
#include "jail/meta.h"
#include "jail/mounts.h"
#include "jail/supervise.h"
#include "jail/sweep.h"
#include "jail/util.h"

static struct cgroups cgroups;

/* A jail that fails leaves no groups either. */
static void remove_groups(void) { cgroup_remove(&cgroups); }

/* Mechanisms that do not depend on the machine: a failure to set one up ends the jail with an
 * error. */
static uint32_t certain_mechanisms(const struct options* options) {
  static const enum mechanism always[] = {MECHANISM_NAMESPACES, MECHANISM_ROOT,
                                          MECHANISM_CAPABILITIES, MECHANISM_NO_NEW_PRIVS,
                                          MECHANISM_RLIMITS};
  uint32_t certain = mechanism_bit(options->has_root ? MECHANISM_UID : MECHANISM_USER_NAMESPACE);
  for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
    certain |= mechanism_bit(always[i]);
  }
  if (!options_without(options, WITHOUT_SECCOMP)) {
    certain |= mechanism_bit(MECHANISM_SECCOMP);
  }
  if (!options_without(options, WITHOUT_NOSYMFOLLOW) && mounts_nosymfollow_works()) {
    certain |= mechanism_bit(MECHANISM_NOSYMFOLLOW);
  }
  return certain;
}

/* Says which level was reached, when it is not enough. */
static void refuse(const struct options* options, const struct facts* facts) {
  char missing[256];
  char message[1024];
  facts_list(facts_missing(facts, options->cpus != NULL), missing, sizeof missing);
  snprintf(message, sizeof message,
           "level %s is required, this machine gives %s; missing: %s%s%s; see jail --check",
           level_name(options->require), level_name(facts_level(facts->mechanisms)), missing,
           facts->note[0] ? "; " : "", facts->note);
  dprintf(STDERR_FILENO, "jail: refused: %s\n", message);
  if (options->meta_fd >= 0) {
    dprintf(options->meta_fd, "status:refused\nerror:%s\n", message);
  }
}

/* Opens those of 0, 1 and 2 that the caller closed, so that nothing else gets these numbers. */
static void fill_standard_descriptors(void) {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd < 0) {
    die_errno("cannot open /dev/null");
  }
  close(fd);
}

/* Ends the jail with an error if anything outlived it: then the run is not to be trusted. */
static void tell_left(const struct options* options, const struct left* before, bool removed) {
  char detail[160];
  const char* left = left_after(before, options, removed, detail, sizeof detail);
  if (options->meta_fd >= 0) {
    dprintf(options->meta_fd, "left:%s\n", left);
  }
  if (*left) {
    die("left behind: %s%s; jail --sweep removes processes and groups", left, detail);
  }
}

int main(int argc, char** argv) {
  struct options options;
  struct facts facts = {.mechanisms = 0};
  struct outcome outcome = {.status = STATUS_EXITED};
  struct left before;
  fill_standard_descriptors();
  options_parse(&options, argc, argv);
  options.has_root = geteuid() == 0;
  options.caller_user = geteuid();
  options.caller_group = getegid();
  if (options.sweep) {
    return sweep_all(&options) ? 0 : EXIT_JAIL_FAILED;
  }
  left_before(&before);
  facts.mechanisms = certain_mechanisms(&options);
  cgroup_init(&cgroups);
  util_set_clean_up(remove_groups);
  cgroup_create(&cgroups, &options, &facts);
  bool enough = facts_level(facts.mechanisms) >= options.require;
  if (enough || options.check) {
    /* A check sets everything up as for a program and stops short of starting one. */
    supervise(&options, &cgroups, &outcome);
  }
  util_set_clean_up(NULL);
  bool removed = cgroup_remove(&cgroups);
  int meta = options.check ? STDOUT_FILENO : options.meta_fd;
  bool told = meta < 0 || meta_write_facts(meta, &facts, &options);
  if (options.check) {
    told = meta_write_remedies(meta, &facts, &options) && told;
  }
  tell_left(&options, &before, removed);
  if (!enough) {
    refuse(&options, &facts);
    return EXIT_JAIL_REFUSED;
  }
  if (!options.check && meta >= 0) {
    told = meta_write_outcome(meta, &outcome) && told;
  }
  if (!told) {
    die("cannot write the meta lines");
  }
  return 0;
}
