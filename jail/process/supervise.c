/* Implements supervise(), the parent's work while the program runs: starts the child, then waits in
 * one poll loop for the child's reports, the caller's commands, signals and deadlines. The child
 * inherits the lock of the jail's slot, a number that only one running jail may hold. */
#include "jail/process/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jail/filter/filter.h"
#include "jail/isolation/hint.h"
#include "jail/privileges/rlimits.h"
#include "jail/process/child.h"
#include "jail/process/counters.h"
#include "jail/support/child_report.h"
#include "jail/support/clock.h"
#include "jail/support/die.h"
#include "jail/support/files.h"

/* A killed process tree normally disappears within milliseconds. A tree that still exists after 20
 * seconds hangs in the kernel, and waiting longer would not help. The CPU time is checked at most
 * every 5 ms. */
enum { kKillTimeoutUs = 20000000, kCpuCheckUs = 5000 };

/* Why the program ended: by itself, or because the jail killed the process tree. */
enum end_reason { END_BY_ITSELF, END_TIMED_OUT, END_CPU_EXCEEDED, END_KILLED };

struct run {
  const struct options* options;
  struct cgroups* cgroups;
  struct counters counters;
  pid_t init; /* the child, which is PID 1 inside the jail */
  int init_pidfd;
  int reports;      /* read end of the child's report pipe */
  int parent_alive; /* write end of the alive pipe; open as long as this process lives */
  int signals;      /* signalfd for SIGTERM, SIGINT and SIGHUP */
  int commands;     /* socket on which the caller sends commands; -1: none, or closed */
  uint64_t started_us;
  uint64_t deadline_us;
  uint64_t cpu_check_us; /* time of the next CPU time check; UINT64_MAX: never */
  /* Why the jail killed the tree. It stays END_BY_ITSELF if the program had already ended. */
  enum end_reason reason;
  bool killed; /* the jail has killed the tree, which must be gone by deadline_us */
  /* True after REPORT_ENTERED has arrived. Until then, the child still holds the slot's lock, so
   * the parent executes no commands. Otherwise the parent could freeze the child and die, and the
   * frozen child would keep the slot locked. */
  bool entered;
  bool has_ended_report;
  struct child_report ended;
  char failure[kMaxMessage]; /* the message of the child's REPORT_FAILED; empty: none arrived */
};

static void make_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) < 0) {
    die_step("cannot make a pipe to the jail's child");
  }
  if (ends[0] >= kExecDescriptor || ends[1] >= kExecDescriptor) {
    die("the jail needs free descriptors below %d, but the process that started it left too many "
        "files open: close some of them, or mark them close-on-exec",
        kExecDescriptor);
  }
}

/* Replaces the caller's signal settings, which the jail would otherwise inherit. For example, if
 * the caller ignores SIGCHLD, init would lose the program's exit status. */
static void block_signals(struct run* run) {
  signal(SIGCHLD, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGTERM);
  sigaddset(&watched, SIGINT);
  sigaddset(&watched, SIGHUP);
  sigprocmask(SIG_BLOCK, &watched, NULL);
  signal(SIGPIPE, SIG_IGN);
  run->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  if (run->signals < 0) {
    die_step("cannot make a descriptor for signals (signalfd)");
  }
}

static _Noreturn void fail_without_namespaces(const struct options* options) {
  die_with_hint(options->has_root ? HINT_NAMESPACES : HINT_USER_NAMESPACE,
                "cannot create the jail's namespaces");
}

static void await_init(const struct run* run) {
  while (waitpid(run->init, NULL, 0) < 0 && errno == EINTR) {
  }
}

static void clone_child(struct run* run) {
  struct clone_args arguments = {
      .flags = (uint64_t)(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
                          CLONE_NEWCGROUP | CLONE_PIDFD),
      .pidfd = (uint64_t)(uintptr_t)&run->init_pidfd,
      .exit_signal = SIGCHLD,
  };
  if (!run->options->has_root) {
    arguments.flags |= CLONE_NEWUSER | CLONE_NEWNET;
  }
  if (cgroup_clone_target(run->cgroups) >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = (unsigned int)cgroup_clone_target(run->cgroups);
  }
  int reports[2];
  int alive[2];
  make_pipe(reports);
  make_pipe(alive);
  int self = (int)syscall(SYS_pidfd_open, getpid(), 0u);
  if (self < 0) {
    die_step("cannot open a descriptor of the jail's own process (pidfd_open)");
  }
  long child = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child < 0 && errno == EACCES && cgroup_clone_target(run->cgroups) >= 0) {
    die_with_hint(
        HINT_CLONE_INTO_CGROUP,
        "cannot start the jail's first process in the jail's control group (CLONE_INTO_CGROUP)");
  }
  if (child < 0) {
    fail_without_namespaces(run->options);
  }
  if (child == 0) {
    close(alive[1]);
    const struct child_links links = {
        .report = reports[1], .parent = alive[0], .parent_pidfd = self};
    child_run(run->options, run->cgroups, &links);
  }
  run->init = (pid_t)child;
  run->reports = reports[0];
  run->parent_alive = alive[1];
  close(self);
  close(reports[1]);
  close(alive[0]);
}

/* If root started the jail, makes the jail's network namespace. The parent itself moves into the
 * new namespace, and the child follows with setns on the parent's pidfd. Meanwhile the child builds
 * the root, which takes about the same time.
 *
 * If an ordinary user started the jail, clone_child has already made the network namespace, because
 * the user namespace must own it. In both cases, the function then tells the child that the
 * namespace exists. */
static void make_network_namespace(struct run* run) {
  if (run->options->has_root && unshare(CLONE_NEWNET) < 0) {
    int error = errno;
    cgroup_kill(run->cgroups, run->init_pidfd);
    await_init(run);
    errno = error;
    fail_without_namespaces(run->options);
  }
  /* If the child has died, no process reads this byte; the child's report says why it died. */
  write_all(run->parent_alive, "", 1);
}

/* Reads one report. Returns false at end of file, which means that init is dead. */
static bool take_report(struct run* run) {
  struct child_report report;
  ssize_t got = read(run->reports, &report, sizeof report);
  if (got < 0 && errno == EINTR) {
    return true;
  }
  if (got != sizeof report) {
    return false;
  }
  if (report.kind == REPORT_FAILED && !run->failure[0]) {
    report.text[sizeof report.text - 1] = '\0';
    memcpy(run->failure, report.text, sizeof run->failure);
  } else if (report.kind == REPORT_ENTERED) {
    run->entered = true;
  } else if (report.kind == REPORT_ENDED) {
    run->ended = report;
    run->has_ended_report = true;
  }
  return true;
}

/* Returns true if the program has ended and init has reported it. After the report, the kernel may
 * need seconds to end init, because the kernel also takes the jail's namespaces down. */
static bool has_ended(struct run* run) {
  struct pollfd reports = {.fd = run->reports, .events = POLLIN};
  while (!run->has_ended_report && poll(&reports, 1, 0) > 0 && (reports.revents & POLLIN)) {
    take_report(run);
  }
  return run->has_ended_report;
}

/* Kills the tree. If the program ended before, its own end is the outcome, not `reason`. */
static void kill_tree(struct run* run, enum end_reason reason) {
  if (!run->killed) {
    run->killed = true;
    run->reason = has_ended(run) ? END_BY_ITSELF : reason;
    run->deadline_us = now_us() + kKillTimeoutUs;
  }
  cgroup_kill(run->cgroups, run->init_pidfd);
}

static bool is_known(char command) {
  return command == KEYDROME_JAIL_FREEZE || command == KEYDROME_JAIL_THAW ||
         command == KEYDROME_JAIL_USAGE || command == KEYDROME_JAIL_KILL;
}

/* Executes one command and replies. Sends with MSG_DONTWAIT, because waiting for the caller would
 * suspend the deadlines. If the channel is full of unread replies, the caller is considered dead
 * and the tree is killed. */
static void execute_command(struct run* run) {
  char command;
  ssize_t got = recv(run->commands, &command, 1, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  if (got <= 0) {
    run->commands = -1;
    kill_tree(run, END_KILLED);
    return;
  }
  struct keydrome_jail_reply reply = {.command = (unsigned char)command};
  const uint64_t cpu_before_us = cgroup_cpu_us(run->cgroups);
  if (command == KEYDROME_JAIL_FREEZE) {
    reply.error = (uint32_t)cgroup_freeze(run->cgroups, true);
  }
  counters_read(&run->counters, reply.counters);
  cgroup_usage(run->cgroups, &reply);
  reply.cpu_before_us = cpu_before_us;
  if (command == KEYDROME_JAIL_THAW) {
    reply.error = (uint32_t)cgroup_freeze(run->cgroups, false);
  } else if (!is_known(command)) {
    reply.error = EINVAL;
  }
  bool sent =
      send(run->commands, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof reply;
  if (!sent) {
    run->commands = -1;
  }
  if (!sent || command == KEYDROME_JAIL_KILL) {
    kill_tree(run, END_KILLED);
  }
}

/* Kills the tree if its CPU time has reached the limit of --cpu-seconds. If the limit is not
 * reached, sets the time of the next check: the earliest time at which the tree can reach the limit
 * with all processors busy, but at least kCpuCheckUs from now. Does nothing before this time. If
 * the CPU time is unknown, makes no further checks; only RLIMIT_CPU then limits the program. */
static void check_cpu_time(struct run* run) {
  uint64_t now = now_us();
  if (now < run->cpu_check_us || run->killed) {
    return;
  }
  struct keydrome_jail_reply usage;
  cgroup_usage(run->cgroups, &usage);
  uint64_t limit_us = run->options->cpu_seconds * 1000000u;
  if (usage.cpu_us == UINT64_MAX) {
    run->cpu_check_us = UINT64_MAX;
  } else if (usage.cpu_us >= limit_us) {
    run->cpu_check_us = UINT64_MAX;
    kill_tree(run, END_CPU_EXCEEDED);
  } else {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t earliest = (limit_us - usage.cpu_us) / (uint64_t)(processors > 0 ? processors : 1);
    run->cpu_check_us = now + (earliest > kCpuCheckUs ? earliest : kCpuCheckUs);
  }
}

static int timeout_ms(const struct run* run) {
  uint64_t now = now_us();
  uint64_t next = run->deadline_us < run->cpu_check_us ? run->deadline_us : run->cpu_check_us;
  if (now >= next) {
    return 0;
  }
  uint64_t left_ms = (next - now + 999) / 1000;
  return left_ms > 1000000 ? 1000000 : (int)left_ms;
}

static void watch(struct run* run) {
  for (;;) {
    /* Reports after REPORT_ENTERED are not urgent. To save wake-ups during the run, the parent
     * reads them when init has died and poll returns POLLHUP. */
    struct pollfd events[] = {{.fd = run->reports, .events = run->entered ? 0 : POLLIN},
                              {.fd = run->signals, .events = POLLIN},
                              {.fd = run->entered ? run->commands : -1, .events = POLLIN}};
    if (poll(events, 3, timeout_ms(run)) < 0 && errno != EINTR) {
      die_step("cannot wait for the end of the program (poll)");
    }
    if (events[0].revents && !take_report(run)) {
      return;
    }
    if (events[1].revents) {
      struct signalfd_siginfo unused;
      if (read(run->signals, &unused, sizeof unused) > 0) {
        kill_tree(run, END_KILLED);
      }
    }
    if (events[2].revents) {
      execute_command(run);
    }
    check_cpu_time(run);
    if (now_us() >= run->deadline_us) {
      if (run->killed) {
        die("the jail killed process %d, the jail's first process, %d seconds ago, but the process "
            "still exists: it hangs in the kernel; wait until it has disappeared, or restart the "
            "machine",
            run->init, kKillTimeoutUs / 1000000);
      }
      kill_tree(run, END_TIMED_OUT);
    }
  }
}

static void classify(const struct run* run, struct outcome* outcome) {
  int status = run->ended.wait_status;
  bool signaled = run->has_ended_report && WIFSIGNALED(status);
  bool killed = !run->has_ended_report || (signaled && WTERMSIG(status) == SIGKILL);
  const uint64_t limit_us = run->options->cpu_seconds * 1000000u;
  outcome->signal = signaled ? WTERMSIG(status) : 0;
  if (run->reason != END_BY_ITSELF) {
    outcome->status = run->reason == END_TIMED_OUT      ? STATUS_TIMED_OUT
                      : run->reason == END_CPU_EXCEEDED ? STATUS_CPU_EXCEEDED
                                                        : STATUS_KILLED;
    outcome->signal = 0;
  } else if (killed && outcome->oom_kills) {
    outcome->status = STATUS_OUT_OF_MEMORY;
    outcome->signal = 0;
  } else if (killed && limit_us && run->ended.cpu_us >= limit_us) {
    /* RLIMIT_CPU killed the program, on a machine without CPU accounting by control groups. */
    outcome->status = STATUS_CPU_EXCEEDED;
    outcome->signal = 0;
  } else if (signaled) {
    outcome->status = STATUS_SIGNALED;
  } else {
    outcome->status = STATUS_EXITED;
    outcome->exit_code = WEXITSTATUS(status);
  }
}

static void conclude(struct run* run, struct outcome* outcome) {
  await_init(run);
  outcome->wall_us = now_us() - run->started_us;
  cgroup_usage(run->cgroups, &outcome->usage);
  outcome->oom_kills = cgroup_oom_kills(run->cgroups);
  if (outcome->usage.cpu_us == UINT64_MAX && run->has_ended_report) {
    outcome->usage.cpu_us = run->ended.cpu_us;
  }
  outcome->processes_left = run->ended.processes_left;
  const char* failure = run->failure;
  if (!failure[0] && !run->has_ended_report && !run->killed && !outcome->oom_kills) {
    failure =
        "the jail's first process died without a report, so a process outside the jail killed it; "
        "repeat the run";
  }
  if (failure[0]) {
    die("%s", failure);
  }
  classify(run, outcome);
}

void supervise(const struct options* options, struct cgroups* cgroups, struct outcome* outcome) {
  struct run run = {.options = options, .cgroups = cgroups, .commands = options->command_fd};
  rlimits_raise_open_files();
  block_signals(&run);
  run.started_us = now_us();
  run.deadline_us = run.started_us + options->wall_ms * 1000;
  run.cpu_check_us = options->cpu_seconds ? run.started_us : UINT64_MAX;
  clone_child(&run);
  counters_init(&run.counters);
  if (options->counters) {
    /* Open the counters now, because only processes that init starts later inherit them. Init has
     * started none yet: it starts the first one after it has entered the network namespace. */
    counters_open(&run.counters, run.init);
  }
  make_network_namespace(&run);
  /* Close the parent's copies of the program's descriptors, so that their peers see end of file
   * when the program has ended. */
  for (int i = 0; i < options->pass_fd_count; i++) {
    close(options->pass_fds[i]);
  }
  watch(&run);
  conclude(&run, outcome);
}
