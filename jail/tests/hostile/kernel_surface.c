/* Hostile program, for testing the jail (a sandbox for one program): tries system calls that could
 * lead out of a jail, or that have often had security bugs. */
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>

#include "jail/tests/hostile/attempt.h"

static void devices_and_keys(void) {
  char memory[256] = "";
  refused("io_uring_setup", syscall(SYS_io_uring_setup, 8, memory), EPERM);
  refused("keyctl", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, -3, 1), EPERM);
  refused("add_key", syscall(SYS_add_key, "user", "k", "v", 1, -3), EPERM);
  refused("userfaultfd", syscall(SYS_userfaultfd, 1), EPERM);
  refused("bpf", syscall(SYS_bpf, 0, memory, sizeof memory), EPERM);
  refused("perf_event_open", syscall(SYS_perf_event_open, memory, 0, -1, -1, 0), EPERM);
  refused("open_by_handle_at", syscall(SYS_open_by_handle_at, 0, memory, 0), EPERM);
  refused("name_to_handle_at", syscall(SYS_name_to_handle_at, 0, "/", memory, memory, 0), EPERM);
  refused("memfd_secret", syscall(SYS_memfd_secret, 0), EPERM);
  refused("shmget", shmget(IPC_PRIVATE, 4096, 0600), EPERM);
  refused("mq_open", syscall(SYS_mq_open, "q", 0102, 0600, NULL), EPERM);
}

static void machine(void) {
  struct timespec now = {0, 0};
  refused("reboot", reboot(RB_AUTOBOOT), EPERM);
  refused("clock_settime", clock_settime(CLOCK_REALTIME, &now), EPERM);
  refused("sethostname", sethostname("x", 1), EPERM);
  refused("mount", mount("none", "/work", "tmpfs", 0, NULL), EPERM);
  refused("umount", umount2("/work", MNT_DETACH), EPERM);
  refused("pivot_root", syscall(SYS_pivot_root, "/work", "/work"), EPERM);
  refused("open_tree", syscall(SYS_open_tree, -100, "/", 1), EPERM);
  refused("fsopen", syscall(SYS_fsopen, "tmpfs", 0), EPERM);
  refused("init_module", syscall(SYS_init_module, NULL, 0, ""), EPERM);
  refused("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, 0), EPERM);
  refused("syslog", syscall(SYS_syslog, 3, NULL, 0), EPERM);
  refused("quotactl", syscall(SYS_quotactl, 0, NULL, 0, NULL), EPERM);
  refused("acct", syscall(SYS_acct, NULL), EPERM);
  refused("swapon", syscall(SYS_swapon, "/program", 0), EPERM);
}

static void own_privileges(void) {
  struct sched_param realtime = {.sched_priority = 1};
  refused("setuid", setuid(0), EPERM);
  refused("setgid", setgid(0), EPERM);
  refused("setresuid", setresuid(0, 0, 0), EPERM);
  refused("personality", syscall(SYS_personality, 0x0400000), EPERM);
  refused("dumpable", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), EPERM);
  refused("pdeathsig", prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0), EPERM);
  refused("subreaper", prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), EPERM);
  refused("realtime", sched_setscheduler(0, SCHED_FIFO, &realtime), EPERM);
  refused("nice", setpriority(PRIO_PROCESS, 0, -10), EPERM);
  /* A filter with a listener could answer later system calls in place of the kernel. */
  refused("listener", syscall(SYS_seccomp, 1, 8, NULL), EPERM);
  refused("seccomp by prctl", prctl(PR_SET_SECCOMP, 2, NULL, 0, 0), EPERM);
  refused("modify_ldt", syscall(SYS_modify_ldt, 0, NULL, 0), EPERM);
  refused("setrlimit", syscall(SYS_setrlimit, RLIMIT_CORE, NULL), EPERM);
}

/* Tries to signal to another jail through locks on a file that both jails see. */
static void shared_files(void) {
  int file = open("/program", O_RDONLY);
  struct flock lock = {.l_type = F_WRLCK};
  required("a shared file", file >= 0);
  refused("flock", syscall(SYS_flock, file, 2), EPERM);
  refused("lease", fcntl(file, F_SETLEASE, F_RDLCK), EPERM);
  refused("the owner of a lock", fcntl(file, F_GETLK, &lock), EPERM);
  refused("the owner of a lock, by descriptors", fcntl(file, F_OFD_GETLK, &lock), EPERM);
  refused("a lock for writing", fcntl(file, F_SETLK, &lock), EBADF);
}

int main(void) {
  shared_files();
  devices_and_keys();
  machine();
  own_privileges();
  return attempt_result();
}
