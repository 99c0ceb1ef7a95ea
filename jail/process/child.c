/* Implements child_run(), the work of the jail's init process (PID 1): sets up the jail from
 * inside, drops the privileges, starts the program as PID 2 and reaps processes. The opening
 * comment of main.c lists these steps in order. */
#include "jail/process/child.h"

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

#include "jail/filesystem/mounts.h"
#include "jail/filter/filter.h"
#include "jail/privileges/privileges.h"
#include "jail/privileges/rlimits.h"
#include "jail/support/child_report.h"
#include "jail/support/die.h"
#include "jail/support/files.h"

static const char kHostName[] = "jail";

/* Opens the host's /dev/null as standard input. Marks every descriptor above 2 close-on-exec,
 * except those of --pass-fd. */
static void set_up_descriptors(const struct options* options) {
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0) {
    die_step("cannot open /dev/null as standard input");
  }
  if (syscall(SYS_close_range, 3u, ~0u, (unsigned int)CLOSE_RANGE_CLOEXEC) < 0) {
    die_step("cannot mark the open descriptors close-on-exec (close_range)");
  }
  for (int i = 0; i < options->pass_fd_count; i++) {
    if (fcntl(options->pass_fds[i], F_SETFD, 0) < 0) {
      die_errno(RETRY_OR_REPORT,
                "--pass-fd %d: the descriptor was open when the jail started, but the jail cannot "
                "keep it open in the program (fcntl)",
                options->pass_fds[i]);
    }
  }
}

/* Opens the program's file while init is still privileged, so that the jail's user needs no search
 * permission on the path. */
static int open_program(const struct options* options) {
  int program = open(options->program[0], O_PATH | O_CLOEXEC);
  if (program < 0) {
    die("cannot open the program %s inside the jail: %s; bind it with --bind SOURCE:%s",
        options->program[0], strerror(errno), options->program[0]);
  }
  return program;
}

struct program {
  const struct options* options;
  int descriptor; /* of the program's file; -1 with --check */
};

static void reset_signals(void) {
  for (int number = 1; number < NSIG; number++) {
    signal(number,
           SIG_DFL); /* fails for SIGKILL and SIGSTOP, which always have their default action */
  }
  /* Ignore SIGXFSZ, so that a write beyond --file-bytes fails with EFBIG instead of killing the
   * program. */
  signal(SIGXFSZ, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs in PID 2, and ends by executing the program. Until then PID 2 shares init's memory: see
 * start_program. */
static int run_program(void* argument) {
  const struct program* program = argument;
  const struct options* options = program->options;
  char* environment[] = {"PATH=/bin", "LC_ALL=C", NULL};
  reset_signals();
  /* The system call filter allows execveat only for kExecDescriptor, a descriptor that the program
   * can never open (filter/filter.h). */
  if (!options->check && dup3(program->descriptor, kExecDescriptor, O_CLOEXEC) < 0) {
    die_step("cannot move the descriptor of the program's file to number %d (dup3)",
             kExecDescriptor);
  }
  rlimits_apply(options);
  if (!options_disabled(options, DISABLED_SECCOMP)) {
    filter_enforce();
  }
  if (options->check) {
    _exit(0);
  }
  syscall(SYS_execveat, kExecDescriptor, "", options->program, environment, AT_EMPTY_PATH);
  if (errno == ENOENT) {
    die_errno(
        "either it is a script, which the jail cannot execute, or its loader is missing inside the "
        "jail: bind the loader with --bind, or link the program statically",
        "cannot execute %s", options->program[0]);
  }
  die_errno("it must be an executable file for this machine", "cannot execute %s",
            options->program[0]);
}

/* Starts PID 2 with CLONE_VM | CLONE_VFORK: PID 2 shares init's memory, and the kernel suspends
 * init until PID 2 calls exec. This is cheaper than copying page tables that exec would discard. */
static pid_t start_program(const struct program* program) {
  static _Alignas(16) char stack[65536];
  pid_t process = clone(run_program, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
                        (void*)(uintptr_t)program);
  if (process < 0) {
    die_step("cannot start the program's process (clone)");
  }
  return process;
}

static uint64_t cpu_time_us(const struct rusage* usage) {
  return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u +
         (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* Reaps processes until none is left, then sends the report. When the program ends, kills all
 * processes that are still alive. The report contains their number. */
static _Noreturn void reap(pid_t program, int report_fd) {
  struct child_report report = {.kind = REPORT_ENDED};
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
    die("the jail has lost the program: wait4 found no child process, but the program had not "
        "ended; " RETRY_OR_REPORT);
  }
  write_all(report_fd, &report, sizeof report);
  _exit(0);
}

/* Makes the kernel kill this process when its parent dies. The kernel clears this setting when the
 * process changes its user, so child_run calls this function before and after the change. If the
 * parent is already dead, its end of the pipe is closed, and this function ends the process. */
static void tie_to_parent(int pipe) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) {
    die_step("cannot ask the kernel to kill the program when the jail dies (PR_SET_PDEATHSIG)");
  }
  struct pollfd parent = {.fd = pipe, .events = 0};
  if (poll(&parent, 1, 0) < 0 || parent.revents) {
    _exit(EXIT_JAIL_FAILED);
  }
}

/* Waits until the parent has made the network namespace, then enters the namespace. The parent
 * makes the namespace while the child builds the root, which takes about the same time. */
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
  /* For an ordinary user, clone3 has already made the network namespace together with the user
   * namespace. */
  if (options->has_root && setns(links->parent_pidfd, CLONE_NEWNET) < 0) {
    die_step("cannot enter the jail's network namespace (setns)");
  }
}

void child_run(const struct options* options, const struct cgroups* cgroups,
               const struct child_links* links) {
  die_set_report_fd(links->report);
  tie_to_parent(links->parent);
  cgroup_enter(cgroups);
  const struct child_report entered = {.kind = REPORT_ENTERED};
  write_all(links->report, &entered, sizeof entered);
  /* If the machine runs out of memory, the kernel should kill jailed processes first. A failed
   * write is ignored, because it does not weaken the isolation. */
  write_file_at(AT_FDCWD, "/proc/self/oom_score_adj", "1000");
  if (!options->has_root) {
    privileges_map(options);
  }
  set_up_descriptors(options);
  umask(0); /* the caller's umask could make the new root unreadable */
  mounts_enter(options);
  umask(S_IWGRP | S_IWOTH);
  if (sethostname(kHostName, sizeof kHostName - 1) < 0 || setdomainname("", 0) < 0) {
    die_step("cannot set the host name inside the jail (sethostname)");
  }
  if (setsid() < 0) {
    die_step("cannot detach the jailed process from the terminal of its caller (setsid)");
  }
  const struct program program = {.options = options,
                                  .descriptor = options->check ? -1 : open_program(options)};
  enter_network_namespace(options, links);
  privileges_drop(options);
  tie_to_parent(links->parent);
  mounts_check_readable(options);

  pid_t process = start_program(&program);
  /* Init keeps only the report pipe, as descriptor 0. It closes the program's descriptors, so that
   * their peers see end of file when the program closes them or dies. */
  dup2(links->report, STDIN_FILENO);
  die_set_report_fd(STDIN_FILENO);
  syscall(SYS_close_range, 1u, ~0u, 0u);
  prctl(PR_SET_NAME, "jail-init", 0, 0, 0);
  reap(process, STDIN_FILENO);
}
