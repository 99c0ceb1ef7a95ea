/* Build-time program: compiles the list of allowed system calls into a BPF filter, and writes the
 * filter as a C array. filter/filter.c includes the array, and the jail loads it. If every jail
 * compiled the filter when it starts, a start would take 3.4 ms instead of 2.1 ms (measured).
 *
 * usage: jail_filter_generate FILE */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jail/filter/filter.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

/* System calls that are allowed with any arguments. A call that the filter does not allow returns
 * an error, mostly EPERM, and does not kill the program, because libraries probe for system calls
 * and handle a refusal. The filter does not check the arguments of futex, because this would slow
 * down every contended lock. */
static const char* const kAllowed[] = {
    /* memory; the second stage (jail/tighten.h), which the program starts after it has loaded its
     * libraries, refuses executable mappings */
    "brk",
    "mbind",
    "membarrier",
    "mincore",
    "mprotect",
    "mremap",
    "msync",
    "munmap",
    "get_mempolicy",
    "set_mempolicy",
    /* threads, signals, waiting */
    "alarm",
    "arch_prctl",
    "exit",
    "exit_group",
    "futex",
    "futex_waitv",
    "get_robust_list",
    "getitimer",
    "kill",
    "pause",
    "restart_syscall",
    "rseq",
    "rt_sigaction",
    "rt_sigpending",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "sched_getaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_setaffinity",
    "sched_yield",
    "set_robust_list",
    "set_tid_address",
    "setitimer",
    "sigaltstack",
    "signalfd4",
    "tgkill",
    "tkill",
    "timer_create",
    "timer_delete",
    "timer_getoverrun",
    "timer_gettime",
    "timer_settime",
    "timerfd_create",
    "timerfd_gettime",
    "timerfd_settime",
    "wait4",
    "waitid",
    /* time */
    "clock_getres",
    "clock_gettime",
    "clock_nanosleep",
    "gettimeofday",
    "nanosleep",
    "time",
    "times",
    /* facts about the process and the machine, and random numbers */
    "getcpu",
    "getcwd",
    "getegid",
    "geteuid",
    "getgid",
    "getgroups",
    "getpgid",
    "getpgrp",
    "getpid",
    "getppid",
    "getpriority",
    "getrandom",
    "getresgid",
    "getresuid",
    "getrlimit",
    "getrusage",
    "getsid",
    "gettid",
    "getuid",
    "sysinfo",
    "uname",
    /* files: the read-only root and the working directory */
    "access",
    "chmod",
    "close",
    "close_range",
    "copy_file_range",
    "creat",
    "dup",
    "dup2",
    "dup3",
    "faccessat",
    "faccessat2",
    "fadvise64",
    "fallocate",
    "fchmod",
    "fchmodat",
    "fdatasync",
    "fstat",
    "fstatfs",
    "fsync",
    "ftruncate",
    "getdents",
    "getdents64",
    "lseek",
    "lstat",
    "mkdir",
    "mkdirat",
    "newfstatat",
    "open",
    "openat",
    "pread64",
    "preadv",
    "preadv2",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "readlink",
    "readlinkat",
    "readv",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "sendfile",
    "stat",
    "statfs",
    "statx",
    "sync_file_range",
    "truncate",
    "umask",
    "unlink",
    "unlinkat",
    "write",
    "writev",
    /* waiting for descriptors, and communicating over the descriptors of --pass-fd */
    "epoll_create1",
    "epoll_ctl",
    "epoll_pwait",
    "epoll_wait",
    "eventfd2",
    "pipe",
    "pipe2",
    "poll",
    "ppoll",
    "pselect6",
    "recvfrom",
    "recvmsg",
    "select",
    "sendmsg",
    "sendto",
    "shutdown",
    /* for the second stage (jail/tighten.h) */
    "landlock_add_rule",
    "landlock_create_ruleset",
    "landlock_restrict_self",
};

/* Calls whose names libseccomp 2.5 does not know. They have the same numbers on all
 * architectures. */
static const int kAllowedNumbers[] = {
    462, /* mseal: the program may seal its own mappings, and the second stage seals code */
};

/* Allowed commands of fcntl. Two jails see the same read-only files and must not communicate
 * through locks on them. Therefore flock and leases are refused. F_SETLK can set a read lock on
 * such a file, but no other process can detect the lock: F_GETLK is refused, and trying a write
 * lock needs a writable descriptor. */
static const int kFcntlCommands[] = {F_DUPFD,     F_DUPFD_CLOEXEC, F_GETFD,     F_SETFD,
                                     F_GETFL,     F_SETFL,         F_SETLK,     F_SETLKW,
                                     F_OFD_SETLK, F_OFD_SETLKW,    F_ADD_SEALS, F_GET_SEALS};

static const int kPrctlOperations[] = {PR_SET_NAME,         PR_GET_NAME,         PR_GET_DUMPABLE,
                                       PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_SET_VMA};

static scmp_filter_ctx filter;

static void check(int result, const char* what) {
  if (result < 0) {
    fprintf(
        stderr,
        "jail_filter_generate: libseccomp cannot build the jail's system call filter (step: %s): "
        "%s; install libseccomp 2.5 or newer\n",
        what, strerror(-result));
    exit(1);
  }
}

static void allow_names(void) {
  for (size_t i = 0; i < sizeof kAllowed / sizeof *kAllowed; i++) {
    int number = seccomp_syscall_resolve_name(kAllowed[i]);
    if (number != __NR_SCMP_ERROR) { /* calls that an older libseccomp does not know stay refused */
      check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0), kAllowed[i]);
    }
  }
  for (size_t i = 0; i < sizeof kAllowedNumbers / sizeof *kAllowedNumbers; i++) {
    check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, kAllowedNumbers[i], 0),
          "rule for a system call that libseccomp knows only by number");
  }
}

static void allow_operations(int syscall_number, const int* operations, size_t count,
                             unsigned int position) {
  for (size_t i = 0; i < count; i++) {
    const struct scmp_arg_cmp is_operation =
        SCMP_CMP32(position, SCMP_CMP_EQ, (uint32_t)operations[i]);
    check(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, syscall_number, 1, &is_operation),
          "rule for a fcntl command or prctl operation");
  }
}

/* Allows clone if it starts a thread. clone that makes a new process or namespace stays refused. */
static void allow_threads(void) {
  const uint64_t decisive = CLONE_THREAD | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                            CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
                            CLONE_UNTRACED | CLONE_PTRACE | CLONE_VFORK;
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                         SCMP_A0(SCMP_CMP_MASKED_EQ, decisive, CLONE_THREAD)),
        "clone");
  /* clone3 returns ENOSYS, and libc then uses clone. The flags of clone3 are in memory, where a
   * filter cannot check them. */
  check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0), "clone3");
}

/* Allows mmap, memfd_create and madvise, except for two uses that the control groups do not count:
 * huge pages that the administrator has reserved, and the work of ksmd, a thread of the kernel that
 * compares pages and merges equal ones. The control groups count transparent huge pages, so these
 * are allowed. */
static void allow_memory(void) {
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                         SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_HUGETLB, 0)),
        "mmap");
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(memfd_create), 1,
                         SCMP_A1(SCMP_CMP_MASKED_EQ, MFD_HUGETLB, 0)),
        "memfd_create");
  /* The kernel reads only the low half of the argument. For each of the five low bits, one rule
   * allows the values below 32 whose bit differs from that of MADV_MERGEABLE. Together the rules
   * allow every value below 32 except MADV_MERGEABLE. */
  const uint64_t low_half = UINT32_MAX;
  for (uint64_t bit = 1; bit < 32; bit <<= 1) {
    const uint64_t high_bits_and_bit = (low_half & ~UINT64_C(31)) | bit;
    check(seccomp_rule_add(
              filter, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1,
              SCMP_A2(SCMP_CMP_MASKED_EQ, high_bits_and_bit, ~(uint64_t)MADV_MERGEABLE & bit)),
          "madvise");
  }
  const uint64_t guards[] = {MADV_GUARD_INSTALL, MADV_GUARD_REMOVE};
  for (size_t i = 0; i < sizeof guards / sizeof *guards; i++) {
    check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1,
                           SCMP_A2(SCMP_CMP_MASKED_EQ, low_half, guards[i])),
          "madvise for guards");
  }
}

static void allow_special(void) {
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(execveat), 2,
                         SCMP_A0_32(SCMP_CMP_EQ, kExecDescriptor),
                         SCMP_A4_32(SCMP_CMP_EQ, AT_EMPTY_PATH)),
        "execveat");
  /* prlimit64 may read limits, but not set them: its pointer to the new limit must be null. */
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A2(SCMP_CMP_EQ, 0)),
        "prlimit64");
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 2,
                         SCMP_A0_32(SCMP_CMP_EQ, PR_SET_DUMPABLE), SCMP_A1(SCMP_CMP_EQ, 0)),
        "prctl");
  /* Allow loading further filters, because the second stage (jail/tighten.h) loads one. Refuse
   * SECCOMP_FILTER_FLAG_NEW_LISTENER, because a listener could answer system calls in place of the
   * kernel. */
  const uint64_t harmless = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG |
                            SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(seccomp), 2,
                         SCMP_A0_32(SCMP_CMP_EQ, SECCOMP_SET_MODE_FILTER),
                         SCMP_A1(SCMP_CMP_MASKED_EQ, ~harmless, 0)),
        "seccomp");
  /* ioctl returns ENOTTY, because the jail has no terminals. openat2 returns ENOSYS, and libc then
   * uses openat. The flags of openat2 are in memory, where a filter cannot check them. */
  check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 0), "ioctl");
  check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0), "openat2");
}

static void build(void) {
  filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  check(filter ? 0 : -ENOMEM, "seccomp_init");
  check(seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2),
        "sorting the rules into a binary tree");
  /* Kill the process if it makes a system call through the i386 or x32 table. Calls have other
   * numbers there, which this filter would misread. No honest 64-bit program makes such calls. */
  check(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "architecture");
  allow_names();
  allow_threads();
  allow_operations(SCMP_SYS(fcntl), kFcntlCommands, sizeof kFcntlCommands / sizeof *kFcntlCommands,
                   1);
  allow_operations(SCMP_SYS(prctl), kPrctlOperations,
                   sizeof kPrctlOperations / sizeof *kPrctlOperations, 0);
  allow_memory();
  allow_special();
}

static void write_array(FILE* file, int compiled) {
  struct sock_filter instruction;
  fputs(
      "/* Generated by jail/filter/generate.c. */\nstatic const struct sock_filter kFilter[] = "
      "{\n",
      file);
  while (read(compiled, &instruction, sizeof instruction) == (ssize_t)sizeof instruction) {
    fprintf(file, "    {0x%02x, %u, %u, 0x%08xu},\n", instruction.code, instruction.jt,
            instruction.jf, instruction.k);
  }
  fputs("};\n", file);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fputs(
        "usage: jail_filter_generate FILE   (writes the jail's system call filter to FILE, as C)\n",
        stderr);
    return 1;
  }
  build();
  int compiled = memfd_create("filter", MFD_CLOEXEC);
  if (compiled < 0) {
    perror("jail_filter_generate: cannot make a file in memory (memfd_create)");
    return 1;
  }
  check(seccomp_export_bpf(filter, compiled), "export");
  check(lseek(compiled, 0, SEEK_SET) < 0 ? -errno : 0, "lseek");
  FILE* file = fopen(argv[1], "w");
  if (!file) {
    perror(argv[1]);
    return 1;
  }
  write_array(file, compiled);
  return fclose(file) == 0 ? 0 : 1;
}
