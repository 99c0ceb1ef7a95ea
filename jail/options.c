#include "jail/options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jail/seccomp.h"
#include "jail/util.h"

static const uint64_t kMebi = 1048576;

#define kMostBytes UINT64_C(70368744177664) /* 64 TiB: more than any machine has */

/* One line per numeric option: where it goes and what is allowed. */
struct number {
  const char* name;
  size_t offset;
  uint64_t least;
  uint64_t most;
};

static const struct number kNumbers[] = {
    {"tmpfs-bytes", offsetof(struct options, tmpfs_bytes), 0, kMostBytes},
    {"memory-bytes", offsetof(struct options, memory_bytes), 4194304, kMostBytes},
    {"processes", offsetof(struct options, processes), 1, 100000},
    {"wall-ms", offsetof(struct options, wall_ms), 1, UINT64_C(1000) * 86400 * 7},
    {"cpu-seconds", offsetof(struct options, cpu_seconds), 1, 86400 * 7 * 1024},
    {"open-files", offsetof(struct options, open_files), 16, kExecDescriptor},
    {"file-bytes", offsetof(struct options, file_bytes), 0, kMostBytes},
    {"stack-bytes", offsetof(struct options, stack_bytes), 65536, UINT64_C(17179869184)},
};

enum option_code {
  OPTION_NUMBER = 256, /* + index into kNumbers */
  OPTION_CHECK = 300,
  OPTION_HELP,
  OPTION_REQUIRE,
  OPTION_SLOT,
  OPTION_BIND,
  OPTION_CPUS,
  OPTION_PASS_FD,
  OPTION_COMMAND_FD,
  OPTION_META_FD,
  OPTION_WITHOUT,
  OPTION_COUNTERS,
  OPTION_SWEEP,
  OPTION_CGROUP_PARENT
};

static const struct option kLong[] = {
    {"tmpfs-bytes", required_argument, NULL, OPTION_NUMBER},
    {"memory-bytes", required_argument, NULL, OPTION_NUMBER + 1},
    {"processes", required_argument, NULL, OPTION_NUMBER + 2},
    {"wall-ms", required_argument, NULL, OPTION_NUMBER + 3},
    {"cpu-seconds", required_argument, NULL, OPTION_NUMBER + 4},
    {"open-files", required_argument, NULL, OPTION_NUMBER + 5},
    {"file-bytes", required_argument, NULL, OPTION_NUMBER + 6},
    {"stack-bytes", required_argument, NULL, OPTION_NUMBER + 7},
    {"check", no_argument, NULL, OPTION_CHECK},
    {"help", no_argument, NULL, OPTION_HELP},
    {"require", required_argument, NULL, OPTION_REQUIRE},
    {"slot", required_argument, NULL, OPTION_SLOT},
    {"bind", required_argument, NULL, OPTION_BIND},
    {"cpus", required_argument, NULL, OPTION_CPUS},
    {"pass-fd", required_argument, NULL, OPTION_PASS_FD},
    {"command-fd", required_argument, NULL, OPTION_COMMAND_FD},
    {"meta-fd", required_argument, NULL, OPTION_META_FD},
    {"without", required_argument, NULL, OPTION_WITHOUT},
    {"counters", no_argument, NULL, OPTION_COUNTERS},
    {"sweep", no_argument, NULL, OPTION_SWEEP},
    {"cgroup-parent", required_argument, NULL, OPTION_CGROUP_PARENT},
    {NULL, 0, NULL, 0},
};

static const char kUsage[] =
    "usage: jail [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "       jail --check [OPTION]...\n"
    "       jail --sweep [OPTION]...\n"
    "options: --require full|weak|none  --slot N  --bind SOURCE:TARGET  --tmpfs-bytes N\n"
    "         --memory-bytes N  --processes N  --cpus LIST  --wall-ms N  --cpu-seconds N\n"
    "         --open-files N  --file-bytes N  --stack-bytes N  --pass-fd N  --command-fd N\n"
    "         --meta-fd N  --cgroup-parent GROUP  --counters\n"
    "         --without cgroup|unified|seccomp|nosymfollow\n";

static uint64_t parse_number(const char* name, const char* text, uint64_t least, uint64_t most) {
  char* end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  bool starts_right = text[0] >= '0' && text[0] <= '9'; /* strtoull takes blanks and signs too */
  if (!starts_right || errno || *end || value < least || value > most) {
    die("--%s %s: must be a whole number from %llu to %llu", name, text, (unsigned long long)least,
        (unsigned long long)most);
  }
  return value;
}

static enum level parse_level(const char* text) {
  for (int level = LEVEL_NONE; level <= LEVEL_FULL; level++) {
    if (strcmp(text, level_name((enum level)level)) == 0) {
      return (enum level)level;
    }
  }
  die("--require %s: must be full, weak or none", text);
}

static enum without parse_without(const char* text) {
  static const char* const names[WITHOUT_COUNT] = {"cgroup", "unified", "seccomp", "nosymfollow"};
  for (int i = 0; i < WITHOUT_COUNT; i++) {
    if (strcmp(text, names[i]) == 0) {
      return (enum without)i;
    }
  }
  die("--without %s: must be cgroup, unified, seccomp or nosymfollow", text);
}

/* "SOURCE:TARGET", cut at the last colon so that sources may hold colons. */
static void parse_bind(struct options* options, char* text) {
  char* colon = strrchr(text, ':');
  if (!colon || colon == text || colon[1] != '/' || colon[2] == '\0') {
    die("--bind %s: must be SOURCE:TARGET with an absolute TARGET below /", text);
  }
  *colon = '\0';
  const char* target = colon + 1;
  if (strstr(target, "/../") || strstr(target, "//") ||
      (strlen(target) >= 3 && strcmp(target + strlen(target) - 3, "/..") == 0)) {
    die("--bind: target %s must not hold .. or //", target);
  }
  if (options->bind_count == kMaxBinds) {
    die("--bind: at most %d are possible", kMaxBinds);
  }
  options->binds[options->bind_count++] = (struct bind){.source = text, .target = target};
}

/* Goes into paths of the kernel's: one group below another, never up. */
static const char* parse_group(const char* text) {
  static const char allowed[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-@:\\/";
  bool good = *text && strlen(text) <= kMaxGroup && !text[strspn(text, allowed)];
  if (!good || text[0] == '/' || strstr(text, "..") || text[strlen(text) - 1] == '/') {
    die("--cgroup-parent %s: must be a path below the mount points, such as keydrome.slice", text);
  }
  return text;
}

static int parse_descriptor(const char* name, const char* text) {
  int fd = (int)parse_number(name, text, 0, 1048576);
  if (fcntl(fd, F_GETFD) < 0) {
    die("--%s %d: is not an open descriptor of this process", name, fd);
  }
  return fd;
}

static void parse_pass_fd(struct options* options, const char* text) {
  if (options->pass_fd_count == kMaxPassFds) {
    die("--pass-fd: at most %d are possible", kMaxPassFds);
  }
  int fd = parse_descriptor("pass-fd", text);
  if (fd < 3) {
    die("--pass-fd %d: 0, 1 and 2 are there in any case; must be 3 or more", fd);
  }
  options->pass_fds[options->pass_fd_count++] = fd;
}

static void parse_one(struct options* options, int code, char* value) {
  switch (code) {
    case OPTION_CHECK:
      options->check = true;
      return;
    case OPTION_HELP:
      write_all(STDOUT_FILENO, kUsage, sizeof kUsage - 1);
      _exit(0);
    case OPTION_REQUIRE:
      options->require = parse_level(value);
      return;
    case OPTION_SLOT:
      options->slot = (int)parse_number("slot", value, 0, kSlots - 1);
      options->slot_given = true;
      return;
    case OPTION_BIND:
      parse_bind(options, value);
      return;
    case OPTION_CPUS:
      options->cpus = value;
      return;
    case OPTION_PASS_FD:
      parse_pass_fd(options, value);
      return;
    case OPTION_COMMAND_FD:
      options->command_fd = parse_descriptor("command-fd", value);
      return;
    case OPTION_META_FD:
      options->meta_fd = parse_descriptor("meta-fd", value);
      util_set_meta_fd(options->meta_fd);
      return;
    case OPTION_COUNTERS:
      options->counters = true;
      return;
    case OPTION_SWEEP:
      options->sweep = true;
      return;
    case OPTION_CGROUP_PARENT:
      options->cgroup_parent = parse_group(value);
      return;
    case OPTION_WITHOUT:
      options->without[parse_without(value)] = true;
      return;
    default:
      break;
  }
  if (code < OPTION_NUMBER || code >= OPTION_CHECK) {
    die("unknown option or missing value; see jail --help");
  }
  const struct number* number = &kNumbers[code - OPTION_NUMBER];
  uint64_t parsed = parse_number(number->name, value, number->least, number->most);
  memcpy((char*)options + number->offset, &parsed, sizeof parsed);
}

static void check_together(const struct options* options) {
  for (int i = 0; i < options->pass_fd_count; i++) {
    int fd = options->pass_fds[i];
    if (fd == options->command_fd || fd == options->meta_fd) {
      die("--pass-fd %d: is also the command or meta descriptor, which the program must not have",
          fd);
    }
    if ((uint64_t)fd >= options->open_files) {
      die("--pass-fd %d: must be below --open-files %llu", fd,
          (unsigned long long)options->open_files);
    }
  }
  for (int i = 0; i < options->bind_count && options->tmpfs_bytes; i++) {
    const char* target = options->binds[i].target;
    if (strncmp(target, "/work", 5) == 0 && (target[5] == '/' || target[5] == '\0')) {
      die("--bind: target %s would be hidden by the working directory; bind it elsewhere", target);
    }
  }
  if (options->cpus && (!*options->cpus || options->cpus[strspn(options->cpus, "0123456789,-")])) {
    die("--cpus %s: must be a list such as 0-1,3", options->cpus);
  }
  if (options->check && options->sweep) {
    die("--check and --sweep: only one of them");
  }
  bool takes_program = !options->check && !options->sweep;
  if (takes_program && !options->program) {
    die("no program given; see jail --help");
  }
  if (!takes_program && options->program) {
    die("--%s takes no program", options->check ? "check" : "sweep");
  }
  if (options->program && options->program[0][0] != '/') {
    die("program %s: must be an absolute path inside the jail", options->program[0]);
  }
}

void options_parse(struct options* options, int argc, char** argv) {
  *options = (struct options){
      .require = LEVEL_FULL,
      .tmpfs_bytes = 16 * kMebi,
      .memory_bytes = 512 * kMebi,
      .processes = 256,
      .wall_ms = 60000,
      .open_files = 256,
      .stack_bytes = 8 * kMebi,
      .command_fd = -1,
      .meta_fd = -1,
  };
  opterr = 0;
  for (int code; (code = getopt_long(argc, argv, "+", kLong, NULL)) != -1;) {
    if (code == '?') {
      die("%s: unknown option or missing value; see jail --help", argv[optind - 1]);
    }
    parse_one(options, code, optarg);
  }
  if (optind < argc) {
    options->program = argv + optind;
  }
  if (options->file_bytes == 0) {
    options->file_bytes = options->memory_bytes;
  }
  check_together(options);
}
