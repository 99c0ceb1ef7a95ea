// Attacks on files and privileges (cases A of the battery, the list of attacks in cases.json). The
// library runs in the jail, a sandbox, in the process of the player, the program that calls it.
// Each function whose only parameter is a Where is one attack. The comment above an attack, or
// above a group of attacks, names its cases.
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>

#include <csignal>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/hostile/attack.h"

namespace hostile {
namespace {

char* kNoArguments[] = {nullptr};

void not_there(const char* path, int flags = O_RDONLY) {
  refused_by_any(path, open(path, flags | O_CLOEXEC), {ENOENT, EACCES});
}

void read_only(const char* path) {
  refused_by_any(path, open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), {EROFS, EACCES, EISDIR});
}

}  // namespace

// A01: tries to read the host's password file, keys and sockets.
void read_host_files(Where) {
  for (const char* path : {"/etc/shadow", "/etc/passwd", "/root/.ssh/id_rsa", "/home", "/tmp",
                           "/var/run/docker.sock", "/run/secrets", "/boot/vmlinuz"}) {
    not_there(path);
  }
}

// A02: looks for plans, seeds and expected results. The root must contain only the files that the
// player needs to run.
void look_for_answers(Where where) {
  const std::set<std::string> known{".",          "..",     "dev", "lib", "lib64",
                                    "library.so", "player", "usr", "work"};
  DIR* root = opendir("/");
  if (may_not_open(where)) return refused("the root", root == nullptr ? -1 : 0, EACCES);
  required("the root", root != nullptr);
  if (root == nullptr) return;
  while (const dirent* entry = readdir(root))
    required(entry->d_name, known.contains(entry->d_name));
  closedir(root);
  DIR* work = opendir(".");
  required("open the working directory", work != nullptr);
  int files = 0;
  while (work != nullptr && readdir(work) != nullptr) ++files;
  required("an empty working directory", files == 2);
  if (work != nullptr) closedir(work);
}

// A03: tries to write outside of the working directory.
void write_outside(Where) {
  for (const char* path : {"/new", "/lib/new", "/usr/lib/new", "/dev/new", "/player", "/library.so",
                           "/lib/x86_64-linux-gnu/libc.so.6"}) {
    read_only(path);
  }
  refused_by_any("mkdir", mkdir("/folder", 0700), {EROFS, EACCES});
  refused_by_any("truncate", truncate("/library.so", 0), {EROFS, EACCES});
}

// A04: tries to make a second root directory and to climb out of it.
void leave_the_root(Where) {
  refused("chroot", chroot("."), EPERM);
  refused("chdir", chdir("../../../../.."), EPERM);
  refused("chroot again", chroot("../../../../.."), EPERM);
  not_there("/work/../../../../../etc/shadow");
}

// A05: looks for a folder of the host among the open descriptors.
void use_open_folders(Where) {
  for (int fd = 0; fd < 4200; ++fd) {
    struct stat status{};
    if (fstat(fd, &status) != 0) continue;
    required("no folder is open", !S_ISDIR(status.st_mode));
    refused("fchdir", fchdir(fd), EPERM);
    refused_by_any("openat", openat(fd, "etc/shadow", O_RDONLY | O_CLOEXEC), {ENOTDIR});
  }
}

// A06, A07: try to link a file of the host into the working directory, so that a process outside of
// the jail opens it later.
void link_to_host_file(Where) {
  refused("symlink", symlink("/tmp/keydrome-battery", "link"), EPERM);
  refused("symlinkat", symlinkat("/tmp/keydrome-battery", AT_FDCWD, "link"), EPERM);
  not_there("/tmp/keydrome-battery", O_WRONLY);
}

void hard_link(Where) {
  refused("link", link("/library.so", "copy"), EPERM);
  refused("linkat", linkat(AT_FDCWD, "/player", AT_FDCWD, "copy", 0), EPERM);
  const int held = open("/library.so", O_PATH | O_CLOEXEC);
  refused("linkat by descriptor", linkat(held, "", AT_FDCWD, "copy", AT_EMPTY_PATH), EPERM);
  if (held >= 0) close(held);
}

// A08: tries to run a setuid program.
void run_setuid_program(Where) {
  for (const char* path : {"/usr/bin/su", "/usr/bin/passwd", "/bin/mount"}) {
    not_there(path);
    refused(path, execve(path, kNoArguments, kNoArguments), EPERM);
  }
}

// A09: tries to make a disk's device file.
void make_devices(Where) {
  refused("block device", mknod("disk", S_IFBLK | 0600, makedev(8, 0)), EPERM);
  refused("character device", mknod("memory", S_IFCHR | 0600, makedev(1, 1)), EPERM);
  refused("mknodat", mknodat(AT_FDCWD, "disk", S_IFBLK | 0600, makedev(8, 0)), EPERM);
}

// A10: tries to mount and unmount file systems, and to change the root.
void mount_something(Where) {
  refused("mount", mount("none", "/work", "tmpfs", 0, nullptr), EPERM);
  refused("remount", mount("none", "/", nullptr, MS_REMOUNT | MS_BIND, nullptr), EPERM);
  refused("umount", umount2("/work", MNT_DETACH), EPERM);
  refused("pivot_root", syscall(SYS_pivot_root, "/work", "/work"), EPERM);
  refused("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/", 1), EPERM);
  refused("move_mount", syscall(SYS_move_mount, AT_FDCWD, "/", AT_FDCWD, "/work", 0), EPERM);
  refused("fsopen", syscall(SYS_fsopen, "tmpfs", 0), EPERM);
  refused("mount_setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, nullptr, 0), EPERM);
}

// A11: tries to gain capabilities by a user namespace, and to become another user.
void gain_capabilities(Where) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}};
  refused("unshare", unshare(CLONE_NEWUSER), EPERM);
  refused("setns", setns(0, CLONE_NEWUSER), EPERM);
  refused("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), EPERM);
  refused("capset", syscall(SYS_capset, &header, data), EPERM);
  refused("setuid", setuid(0), EPERM);
  refused("setgid", setgid(0), EPERM);
  refused("setresuid", syscall(SYS_setresuid, 0, 0, 0), EPERM);
  refused("setgroups", syscall(SYS_setgroups, 0, nullptr), EPERM);
}

// A12, A13: try to read the host's root and environment through /proc; try to write to code through
// /proc/self/mem.
void read_proc(Where) {
  for (const char* path : {"/proc/1/root/etc/shadow", "/proc/1/environ", "/proc/self/environ",
                           "/proc/self/exe", "/proc/cpuinfo", "/sys/kernel", "/sys/fs/cgroup"}) {
    not_there(path);
  }
}

void open_own_memory(Where) {
  not_there("/proc/self/mem", O_RDWR);
  not_there("/proc/self/maps");
  not_there("/proc/self/task");
  not_there("/dev/mem", O_RDWR);
}

// A14: opens files by handle, which needs no path.
void open_by_handle(Where) {
  alignas(8) char handle[128] = "";
  int mount_id = 0;
  refused("name_to_handle_at", syscall(SYS_name_to_handle_at, AT_FDCWD, "/", handle, &mount_id, 0),
          EPERM);
  refused("open_by_handle_at", syscall(SYS_open_by_handle_at, 0, handle, O_RDONLY), EPERM);
}

// A15: tries to reboot, to start another kernel, to load a kernel module, and to use sysrq.
void stop_the_machine(Where) {
  refused("reboot", reboot(RB_AUTOBOOT), EPERM);
  refused("kexec_load", syscall(SYS_kexec_load, 0, 0, nullptr, 0), EPERM);
  refused("kexec_file_load", syscall(SYS_kexec_file_load, 0, 0, 0, "", 0), EPERM);
  refused("init_module", syscall(SYS_init_module, nullptr, 0, ""), EPERM);
  refused("syslog", syscall(SYS_syslog, 3, nullptr, 0), EPERM);
  refused("swapon", syscall(SYS_swapon, "/library.so", 0), EPERM);
  not_there("/proc/sysrq-trigger", O_WRONLY);
}

// A16: tries to leave a core dump.
void dump_core(Where) {
  struct rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  required("no core file", limit.rlim_max <= 1);
  const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
  refused("a larger core limit", setrlimit(RLIMIT_CORE, &all), EPERM);
  std::abort();
}

// A17: types characters into the terminal of the caller.
void push_characters(Where) {
  char character = 'x';
  for (int fd = 0; fd < 3; ++fd) {
    refused("TIOCSTI", ioctl(fd, TIOCSTI, &character), ENOTTY);
    refused("TIOCLINUX", ioctl(fd, TIOCLINUX, &character), ENOTTY);
  }
  not_there("/dev/tty", O_RDWR);
}

// A18: looks for descriptors that were left open. Only the standard ones, the command channel (the
// socket to the referee, the process that judges) and sealed memory from the referee may be open.
void scan_descriptors(Where) {
  for (int fd = 0; fd < 70000; ++fd) {
    struct stat status{};
    if (fstat(fd, &status) != 0) continue;
    const int seals = fcntl(fd, F_GET_SEALS);
    const bool is_null = S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
    if (fd == 0) {
      required("null as standard input", is_null);
    } else if (fd < 3) {
      required("pipes as output", S_ISFIFO(status.st_mode));
    } else if (fd == 3) {
      required("the command channel", S_ISSOCK(status.st_mode));
    } else {
      required("sealed memory", S_ISREG(status.st_mode) && (seals & F_SEAL_SEAL) != 0);
    }
  }
}

// A19: looks for secrets in the environment variables.
void read_environment(Where) {
  int variables = 0;
  for (char** variable = environ; *variable != nullptr; ++variable, ++variables) {
    const std::string text = *variable;
    required(*variable, text == "PATH=/bin" || text == "LC_ALL=C");
  }
  required("two variables", variables == 2);
}

// A20: makes files with names that a program outside could trust, and tries to make a named pipe,
// which would block its reader.
void plant_output(Where) {
  refused("fifo", mkfifo("report.json", 0600), EPERM);
  not_there("/dev/stdout", O_WRONLY);
  for (const char* name : {"report.json", "plan.json", "core", "meta"}) {
    const int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    required(name, file >= 0 && write(file, "{\"verdict\": \"passed\"}", 21) == 21);
    close(file);
  }
}

// A21: tries to make a sparse file of 10 GiB.
void write_sparse_file(Where) {
  constexpr off_t kBytes = off_t{10} << 30;
  const int file = open("sparse", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  required("a file", file >= 0);
  refused_by_any("ftruncate", ftruncate(file, kBytes), {EFBIG, ENOSPC});
  refused_by_any("pwrite", pwrite(file, "x", 1, kBytes), {EFBIG, ENOSPC});
  refused_by_any("fallocate", fallocate(file, 0, 0, kBytes), {EFBIG, ENOSPC});
  close(file);
  unlink("sparse");
}

// A22: uses up all inodes of the working directory.
void exhaust_inodes(Where) {
  int files = 0;
  int opened = -1;
  do {
    opened = open(("file" + std::to_string(files)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (opened >= 0) close(opened);
  } while (opened >= 0 && ++files < 100'000);
  refused("one more file", opened, ENOSPC);
  for (int i = 0; i < files; ++i) unlink(("file" + std::to_string(i)).c_str());
}

// A23: tries to replace the player by renaming another file.
void replace_the_player(Where) {
  const int file = open("mine", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
  required("a file", file >= 0);
  close(file);
  for (const char* path : {"/player", "/library.so", "/lib/x86_64-linux-gnu/libc.so.6"}) {
    refused_by_any("rename", rename("mine", path), {EXDEV, EROFS, EACCES, EBUSY});
    refused_by_any("unlink", unlink(path), {EROFS, EACCES, EBUSY});
  }
  unlink("mine");
}

// A24: tries to change modes and owners of files that belong to root.
void change_modes(Where) {
  for (const char* path : {"/", "/player", "/library.so", "/dev/null"}) {
    refused_by_any("chmod", chmod(path, 04777), {EROFS, EPERM, EACCES});
    refused("chown", chown(path, getuid(), getgid()), EPERM);
  }
  refused("a setuid file for root", chown(".", 0, 0), EPERM);
}

}  // namespace hostile
