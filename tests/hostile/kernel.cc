// Attacks through kernel facilities that could lead out of a jail, or that often had security bugs
// (cases C of the battery, the list of attacks in cases.json). The jail is a sandbox. In it, the
// library runs in the process of the player, the program that calls it. Each function whose only
// parameter is a Where is one attack. The comment above an attack, or above a group of attacks,
// names its cases.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "tests/hostile/attack.h"

namespace hostile {
namespace {

constexpr size_t kPage = 4096;

void* map(int protection, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1) {
  return mmap(nullptr, kPage, protection, flags, file, 0);
}

// Checks that an attempt to make memory executable was refused. Checks nothing in a constructor,
// where the jail still allows executable memory because the loader needs it.
void no_code(const char* what, long result, Where where) {
  if (where == kConstructor) return;
  refused(what, result, EPERM);
}

}  // namespace

// C01: tries to connect to the network, with new sockets and with the command channel (descriptor
// 3).
void connect_inet(Where) {
  const sockaddr_in address{
      .sin_family = AF_INET, .sin_port = 0x3500, .sin_addr = {0x08080808}, .sin_zero = {}};
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  refused("inet", socket(AF_INET, SOCK_STREAM, 0), EPERM);
  refused("inet6", socket(AF_INET6, SOCK_DGRAM, 0), EPERM);
  refused("connect the command channel", connect(3, name, sizeof address), EPERM);
  refused("bind the channel", bind(3, name, sizeof address), EPERM);
  refused("listen on the channel", listen(3, 1), EPERM);
  refused("accept from the channel", accept(3, nullptr, nullptr), EPERM);
}

// C02: tries to reach Unix sockets of the host. It makes new sockets, connects the command channel
// (descriptor 3) to an abstract name, which needs no file, and opens the path of a socket.
void connect_unix(Where) {
  refused("unix", socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
  refused("unix datagrams", socket(AF_UNIX, SOCK_DGRAM, 0), EPERM);
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = "\0keydrome-slot-0"};
  refused("connect", connect(3, reinterpret_cast<sockaddr*>(&name), sizeof name), EPERM);
  refused_by_any("docker.sock", open("/var/run/docker.sock", O_RDWR | O_CLOEXEC), {ENOENT, EACCES});
}

// C03, C04, C05: open sockets of the hypervisor (vsock), netlink sockets, and sockets of rare
// families.
void open_vsock(Where) {
  refused("stream", socket(AF_VSOCK, SOCK_STREAM, 0), EPERM);
  refused_by_any("device", open("/dev/vsock", O_RDWR | O_CLOEXEC), {ENOENT, EACCES});
}

void open_netlink(Where) {
  for (const int family : {NETLINK_ROUTE, NETLINK_SOCK_DIAG, NETLINK_AUDIT, NETLINK_NETFILTER}) {
    refused("netlink", socket(AF_NETLINK, SOCK_RAW, family), EPERM);
  }
}

void open_raw_sockets(Where) {
  for (const int family : {AF_ALG, AF_PACKET, AF_KEY, AF_BLUETOOTH, AF_CAN, AF_XDP, AF_TIPC}) {
    refused("socket", socket(family, SOCK_RAW, 0), EPERM);
  }
}

// C06: sets up io_uring. The kernel would execute its operations without system calls, so no filter
// would see them.
void ring(Where) {
  char parameters[256] = "";
  refused("setup", syscall(SYS_io_uring_setup, 8, parameters), EPERM);
  refused("enter", syscall(SYS_io_uring_enter, 0, 1, 0, 0, nullptr, 0), EPERM);
  refused("register", syscall(SYS_io_uring_register, 0, 0, nullptr, 0), EPERM);
  refused("io_setup", syscall(SYS_io_setup, 8, parameters), EPERM);
}

// C07, C08, C09: attack the jail's init process, which has the same user.
void trace_the_supervisor(Where) {
  refused("attach", ptrace(PTRACE_ATTACH, 1, nullptr, nullptr), EPERM);
  refused("seize", ptrace(PTRACE_SEIZE, 1, nullptr, nullptr), EPERM);
  refused("traceme", ptrace(PTRACE_TRACEME, 0, nullptr, nullptr), EPERM);
  refused("kcmp", syscall(SYS_kcmp, 1, getpid(), 0, 0, 0), EPERM);
}

void write_other_memory(Where) {
  char buffer[8] = "";
  const iovec here{buffer, sizeof buffer};
  refused("write", process_vm_writev(1, &here, 1, &here, 1, 0), EPERM);
  refused("read", process_vm_readv(1, &here, 1, &here, 1, 0), EPERM);
  refused("process_madvise", syscall(SYS_process_madvise, 0, &here, 1, 0, 0), EPERM);
}

void steal_descriptors(Where) {
  refused("pidfd_open", syscall(SYS_pidfd_open, 1, 0), EPERM);
  refused("pidfd_getfd", syscall(SYS_pidfd_getfd, 0, 0, 0), EPERM);
  refused("pidfd_send_signal", syscall(SYS_pidfd_send_signal, 0, SIGKILL, nullptr, 0), EPERM);
}

// C10 to C13: load BPF programs, count hardware events, handle page faults, and keep a key in the
// kernel.
void load_bpf(Where) {
  char attributes[128] = "";
  refused("map", syscall(SYS_bpf, 0, attributes, sizeof attributes), EPERM);
  refused("program", syscall(SYS_bpf, 5, attributes, sizeof attributes), EPERM);
}

void count_events(Where) {
  char attributes[128] = "";
  refused("perf_event_open", syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0), EPERM);
}

void handle_faults(Where) {
  refused("userfaultfd", syscall(SYS_userfaultfd, 1), EPERM);
  refused_by_any("device", open("/dev/userfaultfd", O_RDWR | O_CLOEXEC), {ENOENT, EACCES});
}

void keep_keys(Where) {
  refused("add_key", syscall(SYS_add_key, "user", "k", "v", 1, KEY_SPEC_USER_KEYRING), EPERM);
  refused("request_key", syscall(SYS_request_key, "user", "k", nullptr, 0), EPERM);
  refused("keyctl", syscall(SYS_keyctl, KEYCTL_GET_PERSISTENT, -1, KEY_SPEC_PROCESS_KEYRING),
          EPERM);
}

// C14, C15: make system calls through the kernel's tables for i386 and x32. There the same number
// means a different call, so a filter of numbers could be deceived.
void call_i386(Where) {
#if defined(__x86_64__)
  long result = 0;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
  std::printf("HOLE getpid by the i386 table: %ld\n", result);
#else
  raise(SIGSYS);
#endif
}

void call_x32(Where) {
#if defined(__x86_64__)
  long result = 0;
  __asm__ volatile("syscall" : "=a"(result) : "a"(0x40000000L + 39) : "rcx", "r11", "memory");
  std::printf("HOLE getpid by the x32 table: %ld\n", result);
#else
  raise(SIGSYS);
#endif
}

// C16, C17: change the personality; change the table of segment descriptors and the access to I/O
// ports.
void change_personality(Where) {
  refused("no randomisation", syscall(SYS_personality, 0x0040000), EPERM);
  refused("readable is executable", syscall(SYS_personality, 0x0400000), EPERM);
}

void change_descriptor_table(Where) {
#if defined(SYS_modify_ldt)
  char entry[16] = "";
  refused("modify_ldt", syscall(SYS_modify_ldt, 1, entry, sizeof entry), EPERM);
  refused("set_thread_area", syscall(SYS_set_thread_area, entry), EPERM);
#endif
  refused("iopl", syscall(SYS_iopl, 3), EPERM);
}

// C18: installs a system call filter with a listener. The listener could then answer the player's
// calls in place of the kernel.
void listen_to_calls(Where) {
  sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program{.len = 1, .filter = &allow};
  refused("listener", syscall(SYS_seccomp, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program), EPERM);
  refused("listener by prctl", prctl(PR_SET_SECCOMP, 2, &program, 0, 0), EPERM);
  refused("seccomp strict mode", syscall(SYS_seccomp, 0, 0, nullptr), EPERM);
}

// C19: tries to become dumpable, so that other processes could read its memory, and to outlive its
// parent.
void outlive_the_parent(Where) {
  refused("dumpable", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), EPERM);
  refused("death signal", prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0), EPERM);
  refused("subreaper", prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), EPERM);
  refused("ptracer", prctl(PR_SET_PTRACER, -1, 0, 0, 0), EPERM);
  refused("securebits", prctl(PR_SET_SECUREBITS, 0, 0, 0, 0), EPERM);
}

// C20: tries to send messages to another jail through locks on a file that both jails can open.
void see_a_lock(Where where) {
  const int file = open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC);
  required("a shared file", file >= 0 || where != kConstructor);
  if (file < 0) return;
  refused("flock", flock(file, LOCK_SH), EPERM);
  refused("lease", fcntl(file, F_SETLEASE, F_RDLCK), EPERM);
  struct flock lock{};
  lock.l_type = F_WRLCK;
  refused("read the lock", fcntl(file, F_GETLK, &lock), EPERM);
  refused("read the descriptor's lock", fcntl(file, F_OFD_GETLK, &lock), EPERM);
  refused("lock the file", fcntl(file, F_SETLK, &lock), EBADF);
  close(file);
}

// C21: tries to set the clock of the machine.
void set_the_clock(Where) {
  const timespec epoch{};
  timex change{};
  refused("clock_settime", clock_settime(CLOCK_REALTIME, &epoch), EPERM);
  refused("settimeofday", syscall(SYS_settimeofday, nullptr, nullptr), EPERM);
  refused("adjtimex", adjtimex(&change), EPERM);
  refused("clock_adjtime", syscall(SYS_clock_adjtime, CLOCK_REALTIME, &change), EPERM);
}

// C22: starts 20 timers that send signals for the whole run, as often as the kernel delivers them.
void storm_of_timers(Where) {
  struct sigaction nothing{};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &nothing, nullptr);
  const itimerspec often{.it_interval = {0, 100'000}, .it_value = {0, 1}};
  for (int i = 0; i < 20; ++i) {
    timer_t timer{};
    sigevent by_signal{};
    by_signal.sigev_notify = SIGEV_SIGNAL;
    by_signal.sigev_signo = SIGALRM;
    if (timer_create(CLOCK_MONOTONIC, &by_signal, &timer) == 0) {
      timer_settime(timer, 0, &often, nullptr);
    }
  }
}

// C23 to C26: try to run code that was not in the library when the site inspected the upload.
void map_memfd_as_code(Where where) {
  const int memory = memfd_create("code", 0);
  required("a memfd", memory >= 0 && ftruncate(memory, kPage) == 0);
  void* code = map(PROT_READ | PROT_EXEC, MAP_PRIVATE, memory);
  no_code("memfd", code == MAP_FAILED ? -1 : 0, where);
  close(memory);
  const int file = open("code", O_RDWR | O_CREAT | O_CLOEXEC, 0700);
  required("a file", file >= 0 && ftruncate(file, kPage) == 0);
  code = map(PROT_READ | PROT_EXEC, MAP_PRIVATE, file);
  refused("the working directory", code == MAP_FAILED ? -1 : 0, EPERM);
  close(file);
  unlink("code");
}

void map_writable_code(Where where) {
  void* code = map(PROT_READ | PROT_WRITE | PROT_EXEC);
  no_code("writable code", code == MAP_FAILED ? -1 : 0, where);
}

void make_memory_code(Where where) {
  void* page = map(PROT_READ | PROT_WRITE);
  required("a page of memory for the attack", page != MAP_FAILED);
  no_code("mprotect", mprotect(page, kPage, PROT_READ | PROT_EXEC), where);
  const long result = syscall(SYS_pkey_mprotect, page, kPage, PROT_READ | PROT_EXEC, -1);
  refused("pkey_mprotect", result, EPERM);
  munmap(page, kPage);
}

void make_code_otherwise(Where) {
  void* page = map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
  refused("remap_file_pages", syscall(SYS_remap_file_pages, page, kPage, 0, 0, 0), EPERM);
  refused("shmat", shmat(0, nullptr, SHM_EXEC) == reinterpret_cast<void*>(-1) ? -1 : 0, EPERM);
  refused("uselib", syscall(SYS_uselib, "/library.so"), EPERM);
  munmap(page, kPage);
}

// C27: tries to change the rules of the jail. The jail has two stages; the second begins after
// loading. After the constructor, the filter of the second stage must be in force in all threads.
// The second stage's rules for files do not bind threads that a constructor started (may_not_open).
void change_the_rules(Where where) {
  refused("chroot", chroot("/"), EPERM);
  if (where == kConstructor) return;
  refused("ruleset", syscall(SYS_landlock_create_ruleset, nullptr, 0, 1), EPERM);
  refused("restrict", syscall(SYS_landlock_restrict_self, 0, 0), EPERM);
  refused("another filter", syscall(SYS_seccomp, 1, 0, nullptr), EPERM);
  if (!may_not_open(where)) return;
  refused("the library", open("/library.so", O_RDONLY | O_CLOEXEC), EACCES);
  refused("the library by ..", open("../library.so", O_RDONLY | O_CLOEXEC), EACCES);
}

// C18b: the constructor installs a filter that makes the calls of the second stage succeed without
// effect. The first stage must still refuse everything that it refuses.
void fake_the_second_stage(Where where) {
  if (where == kConstructor) {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_restrict_self, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{.len = sizeof code / sizeof *code, .filter = code};
    required("a filter", syscall(SYS_seccomp, 1, 0, &program) == 0);
    return;
  }
  refused("fork", fork(), EPERM);
  refused("socket", socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
  refused("ptrace", ptrace(PTRACE_ATTACH, 1, nullptr, nullptr), EPERM);
  refused("the password file", open("/etc/shadow", O_RDONLY | O_CLOEXEC), ENOENT);
  refused_by_any("write to the library", open("/library.so", O_WRONLY | O_CLOEXEC),
                 {EROFS, EACCES});
}

}  // namespace hostile
