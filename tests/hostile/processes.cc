// Attacks by processes and threads, and by exhausting memory, descriptors and time (cases B of the
// battery, the list of attacks in cases.json). The library runs in the jail, a sandbox, in the
// process of the player, the program that calls it. Each function whose only parameter is a Where
// is one attack. The comment above an attack, or above a group of attacks, names its cases.
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/hostile/attack.h"

namespace hostile {
namespace {

char* kNoArguments[] = {nullptr};

long raw_clone(unsigned long flags) { return syscall(SYS_clone, flags, 0, 0, 0, 0); }

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

}  // namespace

// B01: tries to start as many processes as possible (a fork bomb).
void fork_bomb(Where) {
  for (int i = 0; i < 1000; ++i) refused("fork", fork(), EPERM);
}

// B02, B03: try to start a process that outlives its parent.
void leave_a_daemon(Where) {
  refused("fork", fork(), EPERM);
  refused("setsid", setsid(), EPERM);
  refused("setpgid", setpgid(0, 0), EPERM);
}

void fork_twice(Where) {
  refused("daemon", daemon(1, 1), EPERM);
  refused("fork with the parent's parent", raw_clone(CLONE_PARENT | SIGCHLD), EPERM);
}

// B04: starts threads until the limit refuses one, then ends them; the run must continue.
void thread_bomb(Where) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  static std::atomic<bool> over{false};
  const auto idle = [](void* unused) -> void* {
    over.wait(false);
    return unused;
  };
  std::vector<pthread_t> threads;
  int error = 0;
  while (error == 0 && threads.size() < 10'000) {
    pthread_t thread{};
    error = pthread_create(&thread, &attributes, idle, nullptr);
    if (error == 0) threads.push_back(thread);
  }
  over.store(true);
  over.notify_all();
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  required("a limit below 1000 threads", error == EAGAIN && threads.size() < 1000);
  std::printf("%zu threads\n", threads.size());
}

// B05, B06, B07: start a process by clone, by clone3, and by vfork or other library calls.
void clone_raw(Where) {
  refused("clone", raw_clone(SIGCHLD), EPERM);
  refused("shared memory", raw_clone(CLONE_VM | SIGCHLD), EPERM);
  refused("shared memory, suspended", raw_clone(CLONE_VM | CLONE_VFORK | SIGCHLD), EPERM);
  refused("untraced", raw_clone(CLONE_UNTRACED | SIGCHLD), EPERM);
}

void clone3_process(Where) {
  clone_args process{};
  process.exit_signal = SIGCHLD;
  refused("clone3", syscall(SYS_clone3, &process, sizeof process), ENOSYS);
  clone_args group{};
  group.flags = CLONE_INTO_CGROUP;
  refused("clone3 into another control group", syscall(SYS_clone3, &group, sizeof group), ENOSYS);
}

void run_a_shell(Where) {
  refused("vfork", syscall(SYS_vfork), EPERM);
  refused("execve", execve("/bin/sh", kNoArguments, kNoArguments), EPERM);
  pid_t child = 0;
  required("posix_spawn",
           posix_spawn(&child, "/bin/sh", nullptr, nullptr, kNoArguments, kNoArguments) == EPERM);
  required("system", std::system("id") != 0);  // NOLINT(cert-env33-c): that is the attack
}

// B08: tries to execute a memfd as a program.
void execute_memory(Where where) {
  const int memory = memfd_create("program", 0);
  required("a memfd", memory >= 0 && write(memory, "#!/bin/sh\n", 10) == 10);
  refused("execveat", syscall(SYS_execveat, memory, "", kNoArguments, kNoArguments, AT_EMPTY_PATH),
          EPERM);
  refused("dup2 to descriptor 4096", dup2(memory, 4096), EBADF);
  refused("a descriptor above 4096", fcntl(memory, F_DUPFD, 4096), EINVAL);
  refused_by_any("execute descriptor 4096",
                 syscall(SYS_execveat, 4096, "", kNoArguments, kNoArguments, AT_EMPTY_PATH),
                 {where == kConstructor ? EBADF : EPERM});
  close(memory);
}

// B09: allocates memory without end.
void eat_heap(Where) {
  for (size_t bytes = 1 << 20;;) {
    void* block = std::malloc(bytes);
    if (block != nullptr) std::memset(block, 1, bytes);
  }
}

// B10: fills memfds and keeps them open, which uses memory without malloc.
void eat_shared_memory(Where) {
  static const std::vector<char> kBlock(1 << 20, 'x');
  for (;;) {
    const int memory = memfd_create("hoard", 0);
    for (int i = 0; i < 16 && memory >= 0; ++i) {
      if (write(memory, kBlock.data(), kBlock.size()) < 0) break;
    }
  }
}

// B11: fills the working directory and reads it repeatedly.
void fill_page_cache(Where) {
  static std::vector<char> block(1 << 20, 'x');
  const int file = open("full", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ssize_t written = 0;
  size_t mebibytes = 0;
  while ((written = write(file, block.data(), block.size())) > 0) ++mebibytes;
  refused("write without end", written, ENOSPC);
  required("at most 64 MiB", mebibytes <= 64);
  for (int turn = 0; turn < 3; ++turn) {
    for (off_t at = 0; pread(file, block.data(), block.size(), at) > 0;) at += off_t{1} << 20;
  }
  close(file);
  unlink("full");
}

// B12: recurses without end, until the stack overflows.
__attribute__((noinline)) int descend(const volatile int* bottom) {
  volatile char frame[4096];
  frame[0] = '\0';
  if (*bottom != 0) return 0;
  const int below = descend(bottom);
  return below + frame[0];
}

void recurse(Where) {
  static volatile int bottom = 0;
  std::printf("%d\n", descend(&bottom));
}

// B13: tries to lock memory.
void lock_memory(Where) {
  static char page[8192];
  refused("mlock", mlock(page, sizeof page), EPERM);
  refused("mlockall", mlockall(MCL_CURRENT | MCL_FUTURE), EPERM);
  refused("mlock2", syscall(SYS_mlock2, page, sizeof page, 0), EPERM);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED;
  void* locked = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, flags, -1, 0);
  refused_by_any("MAP_LOCKED", locked == MAP_FAILED ? -1 : 0, {EPERM, EAGAIN});
}

// B15, B16: sleep in a call and never return.
void sleep_in_a_commit(Where) {
  const timespec long_time{.tv_sec = 1'000'000, .tv_nsec = 0};
  for (;;) nanosleep(&long_time, nullptr);
}

void select_in_a_commit(Where) {
  for (;;) select(0, nullptr, nullptr, nullptr, nullptr);
}

// B17: stops the whole process, as Ctrl-Z does.
void stop_oneself(Where) {
  kill(getpid(), SIGSTOP);
  sleep_for_ever();
}

// B18: ignores all signals and spins.
void ignore_signals(Where) {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_IGN);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (volatile unsigned turn = 0;;) turn = turn + 1;
}

// B20: writes 5 MiB that look like output of the jail, of the referee, which judges, and of the
// worker, which executes runs for the site.
void forge_verdicts(Where) {
  std::string forgery =
      "{\"schema\":\"keydrome.report.v1\",\"verdict\":\"passed\",\"metrics\":{\"total_ms\":0}}\n"
      "level:full\nstatus:exited\nexit_code:0\n{\"event\":\"phase_done\"}\n\x1b[2J\x1b]0;owned\a\n";
  while (forgery.size() < (5 << 20)) forgery += forgery;
  for (size_t at = 0; at < forgery.size();) {
    const ssize_t written = write(STDERR_FILENO, forgery.data() + at, forgery.size() - at);
    if (written <= 0) return;
    at += static_cast<size_t>(written);
  }
}

// B21: opens descriptors up to the limit and keeps them open, so that the player can open none.
void exhaust_descriptors(Where) {
  int opened = 0;
  int last = 0;
  while ((last = dup(STDIN_FILENO)) >= 0 && opened < 10'000) ++opened;
  refused("one more descriptor", last, EMFILE);
  const struct rlimit more = {100'000, 100'000};
  refused("setrlimit", setrlimit(RLIMIT_NOFILE, &more), EPERM);
}

// B22: sends signals to the jail's init process, which has the same user, and to processes outside.
// The kernel permits signals to init, but never delivers a signal that comes from inside init's PID
// namespace.
void stop_the_supervisor(Where) {
  for (const int number : {SIGSTOP, SIGKILL, SIGTERM}) kill(1, number);
  required("init is there", getppid() == 1);
  for (pid_t process = 1000; process < 70'000; ++process) {
    refused("a process outside", kill(process, SIGSTOP), ESRCH);
  }
}

// B23: tries to kill all processes (kill -1).
void kill_everybody(Where) {
  refused("kill all processes", kill(-1, SIGKILL), ESRCH);
  refused("kill another group", kill(-2, SIGKILL), ESRCH);
}

// B24: tries to get real-time scheduling and a higher priority.
void raise_priority(Where) {
  const sched_param realtime{.sched_priority = 1};
  refused("scheduling by FIFO", sched_setscheduler(0, SCHED_FIFO, &realtime), EPERM);
  refused("sched_setparam", syscall(SYS_sched_setparam, 0, &realtime), EPERM);
  refused("sched_setattr", syscall(SYS_sched_setattr, 0, nullptr, 0), EPERM);
  refused("nice", setpriority(PRIO_PROCESS, 0, -10), EPERM);
  refused("ioprio_set", syscall(SYS_ioprio_set, 1, 0, 0), EPERM);
}

// B25: tries to use other processors than those assigned to the jail.
void leave_the_cpuset(Where) {
  cpu_set_t before;
  cpu_set_t all;
  cpu_set_t after;
  CPU_ZERO(&before);
  CPU_ZERO(&after);
  std::memset(&all, 0xff, sizeof all);
  sched_getaffinity(0, sizeof before, &before);
  sched_setaffinity(0, sizeof all, &all);
  sched_getaffinity(0, sizeof after, &after);
  CPU_OR(&all, &before, &after);
  required("no further processor", CPU_EQUAL(&all, &before) != 0);
  refused("by a cpuset", open("/sys/fs/cgroup/cpuset", O_RDONLY | O_CLOEXEC), ENOENT);
}

// B26: fills pipes, whose buffers are kernel memory. The buffers count against the memory limit,
// and the jail's limit of 4,096 descriptors stops the attack.
void fill_pipes(Where) {
  static const std::vector<char> kBlock(1 << 16, 'x');
  std::vector<int> ends;
  int pair[2];
  while (pipe2(pair, O_NONBLOCK | O_CLOEXEC) == 0) {
    ends.insert(ends.end(), {pair[0], pair[1]});
    refused("a larger pipe", fcntl(pair[0], F_SETPIPE_SZ, 1 << 20), EPERM);
    while (write(pair[1], kBlock.data(), kBlock.size()) > 0) {
    }
  }
  required("a limit on pipes", errno == EMFILE && ends.size() <= 4096);
  refused("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair), EPERM);
  for (const int end : ends) close(end);
}

// B27: starts and ends a thousand threads one after another.
void swarm(Where) {
  refused("fork", fork(), EPERM);
  for (int i = 0; i < 1000; ++i) std::thread([] {}).join();
}

// B28: tries to lower its oom_score_adj, so that the out-of-memory killer ends another process
// instead.
void be_spared(Where) {
  refused_by_any("oom_score_adj", open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC),
                 {ENOENT, EACCES});
}

// B29, B30: create System V objects and message queues, which would remain when the process has
// ended.
void leave_shared_memory(Where) {
  refused("shmget", shmget(0x6b657964, 4096, IPC_CREAT | 0666), EPERM);
  refused("semget", semget(0x6b657964, 1, IPC_CREAT | 0666), EPERM);
  refused("msgget", msgget(0x6b657964, IPC_CREAT | 0666), EPERM);
  refused_by_any("/dev/shm", open("/dev/shm/keydrome", O_RDWR | O_CREAT | O_CLOEXEC, 0666),
                 {ENOENT, EACCES, EROFS});
}

void leave_a_queue(Where) {
  refused("mq_open", syscall(SYS_mq_open, "keydrome", O_RDWR | O_CREAT, 0666, nullptr), EPERM);
  refused("mq_unlink", syscall(SYS_mq_unlink, "keydrome"), EPERM);
}

}  // namespace hostile
