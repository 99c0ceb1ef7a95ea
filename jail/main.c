/* jail: runs one untrusted program.
 *
 * Order of steps: read the options; claim the slot and make the cgroups (cgroup.c); refuse if the
 * machine gives less than is required; start a child in new namespaces (supervise.c), which builds
 * the inside and drops every privilege (child.c, mounts.c, limits.c, seccomp.c) while the parent
 * puts it under its limits; watch; kill; write the meta lines.
 *
 * Nothing outside ever opens a path of the inside once the program runs, and no result is read from
 * there: results come over descriptors that the caller passed in. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "jail/meta.h"
#include "jail/mounts.h"
#include "jail/supervise.h"
#include "jail/util.h"

static struct cgroups cgroups;

/* A jail that fails leaves no groups either. */
static void remove_groups(void) { cgroup_remove(&cgroups); }

/* Mechanisms that do not depend on the machine: a failure to set one up ends the jail with an
 * error. */
static uint32_t certain_mechanisms(const struct options* options) {
  static const enum mechanism always[] = {MECHANISM_NAMESPACES,   MECHANISM_ROOT,
                                          MECHANISM_UID,          MECHANISM_CAPABILITIES,
                                          MECHANISM_NO_NEW_PRIVS, MECHANISM_RLIMITS};
  uint32_t certain = 0;
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

int main(int argc, char** argv) {
  struct options options;
  struct facts facts = {.mechanisms = 0};
  struct outcome outcome = {.status = STATUS_EXITED};
  fill_standard_descriptors();
  options_parse(&options, argc, argv);
  if (geteuid() != 0) {
    die("must be started by root");
  }
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
  if (!enough) {
    refuse(&options, &facts);
    return EXIT_JAIL_REFUSED;
  }
  if (!options.check && meta >= 0) {
    told = told && meta_write_outcome(meta, &outcome);
  }
  if (!told) {
    die("cannot write the meta lines");
  }
  return removed ? 0 : EXIT_JAIL_FAILED;
}
