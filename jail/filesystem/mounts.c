/* Implements jail/filesystem/mounts.h: builds the program's root from clones of the host's files,
 * and switches to it. Building uses the new mount API (open_tree, fsopen, move_mount); switching
 * uses pivot_root. */
#include "jail/filesystem/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "jail/filesystem/mount_calls.h"
#include "jail/isolation/hint.h"
#include "jail/support/die.h"

/* One file or folder of the host that will be mounted in the new root. It is cloned before the new
 * root is mounted, because the mount of the new root may cover the source. */
struct clone {
  int tree; /* descriptor of the detached clone of the source (open_tree) */
  const char* target;
  bool is_folder;
};

enum { kMaxClones = kMaxBinds + 8 };
struct clones {
  struct clone items[kMaxClones];
  int count;
};

static const char* const kSystemFolders[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64"};
static const char* const kDevices[] = {"/dev/null", "/dev/zero", "/dev/urandom"};

/* Advice if a mount point cannot be made. */
static const char kOtherTarget[] = "for --bind, choose another TARGET";

static bool kernel_is_at_least(unsigned long major, unsigned long minor) {
  struct utsname name;
  char* rest;
  if (uname(&name) < 0) {
    return false;
  }
  unsigned long its_major = strtoul(name.release, &rest, 10);
  unsigned long its_minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
  return its_major > major || (its_major == major && its_minor >= minor);
}

bool mounts_nosymfollow_works(void) {
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_NOSYMFOLLOW};
  /* For an unknown attribute the kernel returns EINVAL. For a known attribute it returns EBADF,
   * because the descriptor is invalid. */
  if (call_mount_setattr(-1, "", AT_EMPTY_PATH, &attributes) == 0) {
    return false;
  }
  /* For an ordinary user the kernel returns EPERM before either check, so this function decides by
   * the kernel version. The real call happens later, in the user namespace, where the kernel allows
   * the call. */
  return errno == EBADF || (errno == EPERM && kernel_is_at_least(5, 14));
}

static void set_attributes(int tree, uint64_t attributes, const char* what) {
  struct mount_attr change = {.attr_set = attributes};
  if (call_mount_setattr(tree, "", AT_EMPTY_PATH, &change) < 0) {
    die_step("cannot make the mount of %s%s%s%s%s%s (mount_setattr)", what,
             attributes & MOUNT_ATTR_RDONLY ? " read-only" : "",
             attributes & MOUNT_ATTR_NOSUID ? " nosuid" : "",
             attributes & MOUNT_ATTR_NODEV ? " nodev" : "",
             attributes & MOUNT_ATTR_NOEXEC ? " noexec" : "",
             attributes & MOUNT_ATTR_NOSYMFOLLOW ? " nosymfollow" : "");
  }
}

static void add_clone(struct clones* clones, const char* source, const char* target,
                      uint64_t attributes) {
  int tree = call_open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      die_errno("create this path, or give --bind a SOURCE that exists", "cannot bind %s", source);
    }
    if (errno == EACCES && geteuid() != 0) {
      die_errno("let the user who starts the jail read this path, or start the jail as root",
                "cannot bind %s (open_tree)", source);
    }
    die_step("cannot bind %s (open_tree)", source);
  }
  struct stat status;
  if (fstat(tree, &status) < 0) {
    die_step("cannot bind %s (fstat)", source);
  }
  set_attributes(tree, attributes, source);
  clones->items[clones->count++] =
      (struct clone){.tree = tree, .target = target, .is_folder = S_ISDIR(status.st_mode)};
}

static void clone_sources(const struct options* options, struct clones* clones, uint64_t links) {
  const uint64_t common = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
  for (size_t i = 0; i < sizeof kSystemFolders / sizeof *kSystemFolders; i++) {
    struct stat status;
    /* NOSYMFOLLOW, the attribute in `links`, is omitted here, because shared libraries are found
     * through symbolic links in these folders. */
    if (stat(kSystemFolders[i], &status) == 0) {
      add_clone(clones, kSystemFolders[i], kSystemFolders[i], common | MOUNT_ATTR_NODEV);
    }
  }
  for (size_t i = 0; i < sizeof kDevices / sizeof *kDevices; i++) {
    add_clone(clones, kDevices[i], kDevices[i], common | MOUNT_ATTR_NOEXEC | links);
  }
  for (int i = 0; i < options->bind_count; i++) {
    const struct bind* bind = &options->binds[i];
    add_clone(clones, bind->source, bind->target, common | MOUNT_ATTR_NODEV | links);
  }
}

static void configure(int fs, const char* key, const char* value) {
  if (call_fsconfig(fs, FSCONFIG_SET_STRING, key, value) < 0) {
    die_step("cannot set the option %s=%s of the jail's tmpfs (fsconfig)", key, value);
  }
}

/* Makes a tmpfs of `size` bytes as a detached mount, whose root folder belongs to user and group
 * `id`. Returns the descriptor of the mount. */
static int make_tmpfs(uint64_t size, const char* inodes, const char* mode, unsigned int id,
                      uint64_t attributes) {
  int fs = call_fsopen("tmpfs", FSOPEN_CLOEXEC);
  if (fs < 0) {
    die_step("cannot make the jail's tmpfs (fsopen)");
  }
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)size);
  configure(fs, "size", text);
  configure(fs, "nr_inodes", inodes);
  configure(fs, "mode", mode);
  snprintf(text, sizeof text, "%u", id);
  configure(fs, "uid", text);
  configure(fs, "gid", text);
  if (call_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0) {
    die_step("cannot make the jail's tmpfs of %llu bytes (fsconfig)", (unsigned long long)size);
  }
  int tree = call_fsmount(fs, FSMOUNT_CLOEXEC, (unsigned int)attributes);
  if (tree < 0) {
    die_step("cannot mount the jail's tmpfs (fsmount)");
  }
  close(fs);
  return tree;
}

/* Makes the mount point `target` and its parent folders in the new root, which must be the current
 * directory. */
static void make_mount_point(const char* target, bool is_folder) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s", target + 1) >= (int)sizeof path) {
    die("--bind: the target %.100s... is longer than %d bytes; choose a shorter TARGET", target,
        PATH_MAX - 1);
  }
  for (char* slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(path, 0755) < 0 && errno != EEXIST) {
      die_errno(kOtherTarget, "cannot make the folder /%s inside the jail for the mount point %s",
                path, target);
    }
    *slash = '/';
  }
  if (is_folder) {
    if (mkdir(path, 0755) < 0 && errno != EEXIST) {
      die_errno(kOtherTarget, "cannot make the folder %s inside the jail", target);
    }
    return;
  }
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
  if (file < 0) {
    die_errno(kOtherTarget, "cannot make the file %s inside the jail", target);
  }
  close(file);
}

static void attach(int tree, const char* target, bool is_folder) {
  make_mount_point(target, is_folder);
  if (call_move_mount(tree, AT_FDCWD, target + 1) < 0) {
    die_step("cannot mount %s inside the jail (move_mount)", target);
  }
  close(tree);
}

static void enter_empty_root(int root) {
  if (call_move_mount(root, AT_FDCWD, kMountsPlace) < 0) {
    die_step("cannot mount the jail's root on %s (move_mount)", kMountsPlace);
  }
  if (chdir(kMountsPlace) < 0) {
    die_step("cannot change to the jail's root on %s (chdir)", kMountsPlace);
  }
}

/* Moves the new root over the old one. This is for machines that refuse pivot_root, for example
 * because of Docker's default seccomp profile. The old root stays mounted in this namespace, but is
 * covered. Uncovering it needs CAP_SYS_CHROOT or CAP_SYS_ADMIN, and the program has no
 * capabilities. */
static void cover_old_root(void) {
  if (call_mount(".", "/", MS_MOVE) < 0 || chroot(".") < 0 || chdir("/") < 0) {
    die_errno(
        "in a container, allow mount and pivot_root in its seccomp profile",
        "the machine refuses pivot_root, and the jail cannot mount its root over the host's root");
  }
}

static void leave_old_root(void) {
  if (syscall(SYS_pivot_root, ".", ".") < 0) {
    if (errno == EINVAL) {
      die_errno(
          "the kernel refuses this call if the machine's root is the initial RAM disk: start the "
          "jail after switch_root to another root file system",
          "cannot change to the jail's root (pivot_root)");
    }
    if (errno != EPERM && errno != ENOSYS) {
      die_step("cannot change to the jail's root (pivot_root)");
    }
    cover_old_root();
    return;
  }
  /* pivot_root(".", ".") has mounted the old root over the new one; detach the old root. */
  if (call_umount(".", MNT_DETACH) < 0) {
    die_step("cannot detach the host's root inside the jail (umount2)");
  }
  if (chdir("/") < 0) {
    die_step("cannot change to the jail's root (chdir)");
  }
}

void mounts_enter(const struct options* options) {
  const uint64_t root_bytes = 1048576;
  const uint64_t links =
      mounts_nosymfollow_works() && !options_disabled(options, DISABLED_NOSYMFOLLOW)
          ? MOUNT_ATTR_NOSYMFOLLOW
          : 0;
  const uint64_t strict = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  struct clones clones = {.count = 0};
  if (call_mount(NULL, "/", MS_REC | MS_PRIVATE) < 0) {
    die_with_hint(HINT_MOUNTS, "cannot make the mounts private");
  }
  clone_sources(options, &clones, links);
  /* If an ordinary user started the jail, user 0 does not exist in the user namespace, so the
   * jail's user owns the root folder. This user cannot write to the folder, because the mount
   * becomes read-only below. */
  const unsigned int owner = options->has_root ? 0 : options_user(options);
  int root = make_tmpfs(root_bytes, "1024", "0755", owner, strict);
  enter_empty_root(root);
  for (int i = 0; i < clones.count; i++) {
    attach(clones.items[i].tree, clones.items[i].target, clones.items[i].is_folder);
  }
  if (options->tmpfs_bytes) {
    int work = make_tmpfs(options->tmpfs_bytes, "16384", "0700", options_user(options), strict);
    set_attributes(work, strict | links, "/work");
    attach(work, "/work", true);
  }
  set_attributes(root, strict | links | MOUNT_ATTR_RDONLY, "the new root");
  close(root);
  leave_old_root();
  if (options->tmpfs_bytes && chdir("/work") < 0) {
    die_step("cannot change to the folder /work inside the jail (chdir)");
  }
}

void mounts_check_readable(const struct options* options) {
  for (int i = 0; i < options->bind_count; i++) {
    const struct bind* bind = &options->binds[i];
    if (access(bind->target, R_OK) < 0) {
      die("--bind %s: the program runs as user %u, who cannot read this path: make the path "
          "readable for all users (chmod a+r)",
          bind->source, options_user(options));
    }
  }
}
