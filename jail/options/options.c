/* Implements jail/options/options.h, the command line of the jail. A table has the name of each
 * option and the function that checks and stores its value. Other functions check options that
 * depend on each other. */
#include "jail/options/options.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "jail/filter/filter.h"
#include "jail/options/values.h"
#include "jail/support/die.h"
#include "jail/support/files.h"

static const uint64_t kMebi = 1048576;

#define kMaxBytes UINT64_C(70368744177664) /* 64 TiB: more than any machine has */

static const char kUsage[] =
    "usage: jail [OPTION]... -- PROGRAM [ARGUMENT]...   run PROGRAM, a path inside the jail\n"
    "       jail --check [OPTION]...                    print what isolation this machine offers\n"
    "       jail --sweep [--slot N]                     remove the leftovers of killed jails\n"
    "\n"
    "  --bind SOURCE:TARGET   mount the host's file or folder SOURCE as TARGET, read-only; "
    "repeatable\n"
    "  --require full|weak|none   minimum level of isolation (full)\n"
    "  --slot N               0 to 999: selects user 60000 + N and the control groups (0)\n"
    "  --wall-ms N            deadline on the wall clock (60000)\n"
    "  --cpu-seconds N        deadline in CPU time (none)\n"
    "  --memory-bytes N       memory limit (512 MiB)\n"
    "  --tmpfs-bytes N        size of the writable folder /work (16 MiB); 0: no /work\n"
    "  --file-bytes N         maximum size of a file (same as --memory-bytes)\n"
    "  --stack-bytes N        stack of the program and of its threads (8 MiB)\n"
    "  --processes N          processes and threads together (256)\n"
    "  --open-files N         open files of a process (4096)\n"
    "  --cpus LIST            processors, such as 0-1,3 (all)\n"
    "  --pass-fd N            keep this descriptor open in the program; repeatable\n"
    "  --command-fd N         take commands from descriptor N: freeze, thaw, usage, kill\n"
    "  --meta-fd N            write isolation level and outcome to descriptor N\n"
    "  --counters             count cycles, page faults and more; read over --command-fd\n"
    "  --cgroup-parent GROUP  make the control groups below GROUP\n"
    "  --without cgroup|unified|seccomp|nosymfollow   for tests: disable a mechanism\n"
    "\n"
    "Defaults in parentheses. Exit status: 0 the program ran, 2 the jail failed, 3 the machine\n"
    "offers less isolation than --require. Manual: jail.1 and docs/reference/jail.md.\n";

/* One option. `set` stores its value in struct options; set_number and set_flag store it at
 * `offset`. */
struct spec {
  const char* name;
  int has_argument;
  void (*set)(struct options* options, const struct spec* spec, char* value);
  size_t offset;
  uint64_t min;
  uint64_t max;
};

static void set_number(struct options* options, const struct spec* spec, char* value) {
  uint64_t number = value_number(spec->name, value, spec->min, spec->max);
  memcpy((char*)options + spec->offset, &number, sizeof number);
}

static void set_flag(struct options* options, const struct spec* spec, char* value) {
  (void)value;
  *(bool*)((char*)options + spec->offset) = true;
}

static void set_help(struct options* options, const struct spec* spec, char* value) {
  (void)options, (void)spec, (void)value;
  write_all(STDOUT_FILENO, kUsage, sizeof kUsage - 1);
  _exit(0);
}

static void set_require(struct options* options, const struct spec* spec, char* value) {
  (void)spec;
  options->require = value_level(value);
}

static void set_slot(struct options* options, const struct spec* spec, char* value) {
  options->slot = (int)value_number(spec->name, value, 0, kSlots - 1);
  options->slot_given = true;
}

static void set_bind(struct options* options, const struct spec* spec, char* value) {
  (void)spec;
  if (options->bind_count == kMaxBinds) {
    die("--bind: given more than %d times, which is the limit; bind a folder that contains several "
        "of the files",
        kMaxBinds);
  }
  options->binds[options->bind_count++] = value_bind(value);
}

static void set_cpus(struct options* options, const struct spec* spec, char* value) {
  (void)spec;
  options->cpus = value_cpus(value);
}

static void set_pass_fd(struct options* options, const struct spec* spec, char* value) {
  if (options->pass_fd_count == kMaxPassFds) {
    die("--pass-fd: given more than %d times, which is the limit; pass fewer descriptors",
        kMaxPassFds);
  }
  int fd = value_descriptor(spec->name, value);
  if (fd <= STDERR_FILENO) {
    die("--pass-fd %d: must be 3 or more; descriptors 0 to 2 need no option, because the jail "
        "always passes them",
        fd);
  }
  options->pass_fds[options->pass_fd_count++] = fd;
}

static void set_command_fd(struct options* options, const struct spec* spec, char* value) {
  options->command_fd = value_descriptor(spec->name, value);
}

static void set_meta_fd(struct options* options, const struct spec* spec, char* value) {
  options->meta_fd = value_descriptor(spec->name, value);
  die_set_meta_fd(options->meta_fd); /* from now on, die() also writes to this descriptor */
}

static void set_disabled(struct options* options, const struct spec* spec, char* value) {
  (void)spec;
  options->disabled[value_disabled(value)] = true;
}

static void set_cgroup_parent(struct options* options, const struct spec* spec, char* value) {
  (void)spec;
  options->cgroup_parent = value_group(value);
}

#define AT(field) offsetof(struct options, field)

static const struct spec kSpecs[] = {
    {"tmpfs-bytes", required_argument, set_number, AT(tmpfs_bytes), 0, kMaxBytes},
    {"memory-bytes", required_argument, set_number, AT(memory_bytes), 4194304, kMaxBytes},
    {"processes", required_argument, set_number, AT(processes), 1, 100000},
    {"wall-ms", required_argument, set_number, AT(wall_ms), 1, UINT64_C(1000) * 86400 * 7},
    {"cpu-seconds", required_argument, set_number, AT(cpu_seconds), 1, 86400 * 7 * 1024},
    {"open-files", required_argument, set_number, AT(open_files), 16, kExecDescriptor},
    {"file-bytes", required_argument, set_number, AT(file_bytes), 0, kMaxBytes},
    {"stack-bytes", required_argument, set_number, AT(stack_bytes), 65536, UINT64_C(17179869184)},
    {"check", no_argument, set_flag, AT(check), 0, 0},
    {"sweep", no_argument, set_flag, AT(sweep), 0, 0},
    {"counters", no_argument, set_flag, AT(counters), 0, 0},
    {"help", no_argument, set_help, 0, 0, 0},
    {"require", required_argument, set_require, 0, 0, 0},
    {"slot", required_argument, set_slot, 0, 0, 0},
    {"bind", required_argument, set_bind, 0, 0, 0},
    {"cpus", required_argument, set_cpus, 0, 0, 0},
    {"pass-fd", required_argument, set_pass_fd, 0, 0, 0},
    {"command-fd", required_argument, set_command_fd, 0, 0, 0},
    {"meta-fd", required_argument, set_meta_fd, 0, 0, 0},
    {"without", required_argument, set_disabled, 0, 0, 0},
    {"cgroup-parent", required_argument, set_cgroup_parent, 0, 0, 0},
};

enum { kSpecCount = sizeof kSpecs / sizeof *kSpecs, kFirstCode = 256 };

/* Makes getopt's table from kSpecs. The code of an option is its index in kSpecs plus kFirstCode,
 * so that no code equals '?', which getopt returns for an error. */
static void fill_long_options(struct option* long_options) {
  for (int i = 0; i < kSpecCount; i++) {
    long_options[i] = (struct option){kSpecs[i].name, kSpecs[i].has_argument, NULL, kFirstCode + i};
  }
  long_options[kSpecCount] = (struct option){NULL, 0, NULL, 0};
}

static void check_pass_fds(const struct options* options) {
  for (int i = 0; i < options->pass_fd_count; i++) {
    int fd = options->pass_fds[i];
    if (fd == options->command_fd || fd == options->meta_fd) {
      die("--pass-fd %d: is also the descriptor of %s, which the program must not have; pass "
          "another descriptor",
          fd, fd == options->command_fd ? "--command-fd" : "--meta-fd");
    }
    if ((uint64_t)fd >= options->open_files) {
      die("--pass-fd %d: must be below %llu, the value of --open-files; raise --open-files, or "
          "pass a lower descriptor",
          fd, (unsigned long long)options->open_files);
    }
  }
}

static void check_binds(const struct options* options) {
  for (int i = 0; i < options->bind_count && options->tmpfs_bytes; i++) {
    const char* target = options->binds[i].target;
    if (strncmp(target, "/work", 5) == 0 && (target[5] == '/' || target[5] == '\0')) {
      die("--bind: the writable folder /work, which the jail mounts, would hide the target %s; "
          "choose a TARGET outside /work, or leave /work out with --tmpfs-bytes 0",
          target);
    }
  }
}

static void check_program(const struct options* options) {
  if (options->check && options->sweep) {
    die("--check and --sweep cannot be given together: run jail once with each");
  }
  bool takes_program = !options->check && !options->sweep;
  if (takes_program && !options->program) {
    die("no program given: end the command with -- and the path that the program has inside the "
        "jail, such as -- /program; see jail --help");
  }
  if (!takes_program && options->program) {
    die("--%s takes no program: remove %s", options->check ? "check" : "sweep",
        options->program[0]);
  }
  if (options->program && options->program[0][0] != '/') {
    die("program %s: must be an absolute path inside the jail, such as /program; bind the file to "
        "this path with --bind SOURCE:/program",
        options->program[0]);
  }
}

/* Ends the process with a message about an argument that getopt has rejected. `code` is the value
 * that getopt_long returned. */
static _Noreturn void die_rejected(int code, const char* argument) {
  if (code == ':') {
    die("%s: the value of this option is missing; see jail --help", argument);
  }
  if (optopt >= kFirstCode) {
    die("%s: the option --%s takes no value; see jail --help", argument,
        kSpecs[optopt - kFirstCode].name);
  }
  int similar = 0;
  for (int i = 0; i < kSpecCount && strncmp(argument, "--", 2) == 0; i++) {
    similar += strncmp(kSpecs[i].name, argument + 2, strcspn(argument + 2, "=")) == 0;
  }
  die("%s: %s; see jail --help", argument,
      similar > 1 ? "several options of the jail begin in this way, so write the whole name"
                  : "is not an option of the jail");
}

void options_parse(struct options* options, int argc, char** argv) {
  *options = (struct options){
      .require = LEVEL_FULL,
      .tmpfs_bytes = 16 * kMebi,
      .memory_bytes = 512 * kMebi,
      .processes = 256,
      .wall_ms = 60000,
      .open_files = kExecDescriptor,
      .stack_bytes = 8 * kMebi,
      .command_fd = -1,
      .meta_fd = -1,
  };
  struct option long_options[kSpecCount + 1];
  fill_long_options(long_options);
  opterr = 0;
  for (;;) {
    const char* argument = optind < argc ? argv[optind] : "";
    /* '+': stop at the first argument that is no option. ':': return ':' for a missing value. */
    int code = getopt_long(argc, argv, "+:", long_options, NULL);
    if (code == -1) {
      break;
    }
    if (code < kFirstCode) {
      die_rejected(code, argument);
    }
    const struct spec* spec = &kSpecs[code - kFirstCode];
    spec->set(options, spec, optarg);
  }
  if (optind < argc) {
    options->program = argv + optind;
  }
  if (options->file_bytes == 0) {
    options->file_bytes = options->memory_bytes;
  }
  check_pass_fds(options);
  check_binds(options);
  check_program(options);
}
