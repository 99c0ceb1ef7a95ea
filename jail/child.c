#include "jail/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jail/limits.h"
#include "jail/mounts.h"
#include "jail/report.h"
#include "jail/seccomp.h"
#include "jail/util.h"

static const char kHostName[] = "jail";

/* Standard input becomes the host's /dev/null; of the rest only what is passed survives the exec.
 */
static void set_up_descriptors(const struct options* options) {
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0) {
    die_errno("cannot open /dev/null as standard input");
  }
  if (syscall(SYS_close_range, 3u, ~0u, (unsigned int)CLOSE_RANGE_CLOEXEC) < 0) {
    die_errno("close_range");
  }
  for (int i = 0; i < options->pass_fd_count; i++) {
    if (fcntl(options->pass_fds[i], F_SETFD, 0) < 0) {
      die_errno("cannot pass descriptor %d", options->pass_fds[i]);
    }
  }
}

/* Opens the program while still privileged: the user of the jail need not be able to reach it by
 * name. */
static int open_program(const struct options* options) {
  int program = open(options->program[0], O_PATH | O_CLOEXEC);
  if (program < 0) {
    die_errno("cannot open the program %s in the jail; is it bound (--bind)?", options->program[0]);
  }
  return program;
}

struct program {
  const struct options* options;
  int descriptor; /* -1 with --check */
};

static void reset_signals(void) {
  for (int number = 1; number < NSIG; number++) {
    signal(number, SIG_DFL); /* fails for SIGKILL and SIGSTOP, which cannot be otherwise */
  }
  /* Writing too large a file is then an error (EFBIG) instead of a death. */
  signal(SIGXFSZ, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Process 2 until its exec. */
static int run_program(void* argument) {
  const struct program* program = argument;
  const struct options* options = program->options;
  char* environment[] = {"PATH=/bin", "LC_ALL=C", NULL};
  reset_signals();
  /* To a number that the program itself can never get: see seccomp.h. */
  if (!options->check && dup3(program->descriptor, kExecDescriptor, O_CLOEXEC) < 0) {
    die_errno("cannot move the program's descriptor to %d", kExecDescriptor);
  }
  limits_apply(options);
  if (!options_without(options, WITHOUT_SECCOMP)) {
    seccomp_enforce();
  }
  if (options->check) {
    _exit(0);
  }
  syscall(SYS_execveat, kExecDescriptor, "", options->program, environment, AT_EMPTY_PATH);
  die_errno("cannot execute %s", options->program[0]);
}

/* Starts process 2 in the memory of this one, which stands still until the other's exec: copying
 * the memory, to throw it away at once, would cost more. */
static pid_t start_program(const struct program* program) {
  static _Alignas(16) char stack[65536];
  pid_t process = clone(run_program, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
                        (void*)(uintptr_t)program);
  if (process < 0) {
    die_errno("cannot start the program");
  }
  return process;
}

static uint64_t cpu_time_us(const struct rusage* usage) {
  return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u +
         (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* Reaps until nothing is left. What is still alive when the program ends has outlived it: killed
 * and counted. */
static _Noreturn void reap(pid_t program, int report_fd) {
  struct report report = {.kind = REPORT_ENDED};
  bool ended = false;
  for (;;) {
    int status;
    struct rusage usage;
    pid_t process = wait4(-1, &status, __WALL, &usage);
    if (process < 0 && errno == EINTR) {
      continue;
    }
    if (process < 0) {
      break;
    }
    if (process != program) {
      report.processes_left += ended;
      continue;
    }
    ended = true;
    report.wait_status = status;
    report.cpu_us = cpu_time_us(&usage);
    kill(-1, SIGKILL);
  }
  if (!ended) {
    die("the init of the jail has lost its program");
  }
  write_all(report_fd, &report, sizeof report);
  _exit(0);
}

/* Dies with the parent. The kernel forgets this setting when the user changes, hence it is made
 * after that; a parent that died before shows as end of file. */
static void tie_to_parent(int pipe) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) {
    die_errno("PR_SET_PDEATHSIG");
  }
  struct pollfd parent = {.fd = pipe, .events = 0};
  if (poll(&parent, 1, 0) < 0 || parent.revents) {
    _exit(EXIT_JAIL_FAILED);
  }
}

/* The parent makes the network namespace, which takes as long as all the rest, while the child
 * builds the root. */
static void enter_network_namespace(const struct options* options,
                                    const struct child_links* links) {
  char ready;
  ssize_t got;
  do {
    got = read(links->parent, &ready, sizeof ready);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof ready) {
    _exit(EXIT_JAIL_FAILED);
  }
  /* An ordinary user's child was born with one of its own. */
  if (options->has_root && setns(links->parent_pidfd, CLONE_NEWNET) < 0) {
    die_errno("cannot enter the network namespace");
  }
}

void child_run(const struct options* options, const struct cgroups* cgroups,
               const struct child_links* links) {
  util_set_report_fd(links->report);
  tie_to_parent(links->parent);
  cgroup_enter(cgroups);
  const struct report entered = {.kind = REPORT_ENTERED};
  write_all(links->report, &entered, sizeof entered);
  /* If memory of the whole machine runs out, the jailed die first. A pity if it cannot be had, not
   * a hole. */
  write_file_at(AT_FDCWD, "/proc/self/oom_score_adj", "1000");
  if (!options->has_root) {
    privileges_map(options);
  }
  set_up_descriptors(options);
  umask(0); /* the caller's could make the new root unreadable */
  mounts_enter(options);
  umask(S_IWGRP | S_IWOTH);
  if (sethostname(kHostName, sizeof kHostName - 1) < 0 || setdomainname("", 0) < 0) {
    die_errno("sethostname");
  }
  if (setsid() < 0) {
    die_errno("setsid");
  }
  const struct program program = {.options = options,
                                  .descriptor = options->check ? -1 : open_program(options)};
  enter_network_namespace(options, links);
  privileges_drop(options);
  tie_to_parent(links->parent);
  mounts_check_readable(options);

  pid_t process = start_program(&program);
  /* Keeps nothing that belongs to the program: its peers must see end of file when it closes or
   * dies. */
  dup2(links->report, STDIN_FILENO);
  util_set_report_fd(STDIN_FILENO);
  syscall(SYS_close_range, 1u, ~0u, 0u);
  prctl(PR_SET_NAME, "jail-init", 0, 0, 0);
  reap(process, STDIN_FILENO);
}
