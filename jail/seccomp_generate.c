/* Build-time program: compiles the system-call policy into the array that jail/seccomp.c loads.
 * Building the filter at every start would cost more than all other steps of the jail together (1.3
 * of 3.4 ms, measured).
 *
 * usage: seccomp_generate FILE */
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

#include "jail/seccomp.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Allowed whatever the arguments. What is not here returns EPERM and does not kill: a library that
 * probes for a facility must get an answer. Futexes carry no argument rules, since those would cost
 * every contended lock. */
static const char* const kAllowed[] = {
    /* memory; executable mappings are closed by the second stage (tighten.h) */
    "brk",
    "madvise",
    "mbind",
    "membarrier",
    "memfd_create",
    "mincore",
    "mmap",
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
    /* who and where am I */
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
    /* waiting for descriptors, and talking over those that were passed in */
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
    /* for the second stage */
    "landlock_add_rule",
    "landlock_create_ruleset",
    "landlock_restrict_self",
};

/* Calls whose names libseccomp 2.5 does not know; their numbers are the same on every architecture.
 */
static const int kAllowedNumbers[] = {
    462, /* mseal, for the second stage */
};

/* Not flock and not leases: they lock read-only files that all jails share. A record lock for
 * reading can be had there too, so nobody may ask who holds one (F_GETLK); a lock for writing,
 * which would find out as well, needs a writable descriptor. */
static const int kFcntlCommands[] = {F_DUPFD,     F_DUPFD_CLOEXEC, F_GETFD,     F_SETFD,
                                     F_GETFL,     F_SETFL,         F_SETLK,     F_SETLKW,
                                     F_OFD_SETLK, F_OFD_SETLKW,    F_ADD_SEALS, F_GET_SEALS};

static const int kPrctlOperations[] = {PR_SET_NAME,         PR_GET_NAME,         PR_GET_DUMPABLE,
                                       PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_SET_VMA};

static scmp_filter_ctx filter;

static void check(int result, const char* what) {
  if (result < 0) {
    fprintf(stderr, "seccomp_generate: %s: %s\n", what, strerror(-result));
    exit(1);
  }
}

static void allow_names(void) {
  for (size_t i = 0; i < sizeof kAllowed / sizeof *kAllowed; i++) {
    int number = seccomp_syscall_resolve_name(kAllowed[i]);
    if (number != __NR_SCMP_ERROR) { /* an older libseccomp: the call stays refused */
      check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0), kAllowed[i]);
    }
  }
  for (size_t i = 0; i < sizeof kAllowedNumbers / sizeof *kAllowedNumbers; i++) {
    check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, kAllowedNumbers[i], 0), "call without a name");
  }
}

static void allow_operations(int syscall_number, const int* operations, size_t count,
                             unsigned int position) {
  for (size_t i = 0; i < count; i++) {
    const struct scmp_arg_cmp is_operation =
        SCMP_CMP32(position, SCMP_CMP_EQ, (uint32_t)operations[i]);
    check(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, syscall_number, 1, &is_operation),
          "operation rule");
  }
}

/* Threads may be started, processes and namespaces may not. */
static void allow_threads(void) {
  const uint64_t decisive = CLONE_THREAD | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                            CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
                            CLONE_UNTRACED | CLONE_PTRACE | CLONE_VFORK;
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                         SCMP_A0(SCMP_CMP_MASKED_EQ, decisive, CLONE_THREAD)),
        "clone");
  /* Its flags are in memory, out of reach of a filter. libc then falls back to clone. */
  check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0), "clone3");
}

static void allow_special(void) {
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(execveat), 2,
                         SCMP_A0_32(SCMP_CMP_EQ, kExecDescriptor),
                         SCMP_A4_32(SCMP_CMP_EQ, AT_EMPTY_PATH)),
        "execveat");
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A2(SCMP_CMP_EQ, 0)),
        "prlimit64");
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 2,
                         SCMP_A0_32(SCMP_CMP_EQ, PR_SET_DUMPABLE), SCMP_A1(SCMP_CMP_EQ, 0)),
        "prctl");
  /* Further filters, for the second stage; never one with a listener that could answer in the
   * kernel's place. */
  const uint64_t harmless = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG |
                            SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
  check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(seccomp), 2,
                         SCMP_A0_32(SCMP_CMP_EQ, SECCOMP_SET_MODE_FILTER),
                         SCMP_A1(SCMP_CMP_MASKED_EQ, ~harmless, 0)),
        "seccomp");
  /* No terminals here; and what cannot be filtered for its memory arguments does not exist. */
  check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 0), "ioctl");
  check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0), "openat2");
}

static void build(void) {
  filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  check(filter ? 0 : -ENOMEM, "start");
  check(seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2), "binary tree");
  /* i386 and x32 calls have other numbers; nothing honest makes them in a 64-bit process. */
  check(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "architecture");
  allow_names();
  allow_threads();
  allow_operations(SCMP_SYS(fcntl), kFcntlCommands, sizeof kFcntlCommands / sizeof *kFcntlCommands,
                   1);
  allow_operations(SCMP_SYS(prctl), kPrctlOperations,
                   sizeof kPrctlOperations / sizeof *kPrctlOperations, 0);
  allow_special();
}

static void write_array(FILE* file, int compiled) {
  struct sock_filter instruction;
  fputs(
      "/* Generated by jail/seccomp_generate.c. */\nstatic const struct sock_filter kFilter[] = "
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
    fputs("usage: seccomp_generate FILE\n", stderr);
    return 1;
  }
  build();
  int compiled = memfd_create("filter", MFD_CLOEXEC);
  if (compiled < 0) {
    perror("seccomp_generate: memfd");
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
