/* Wrappers of the system calls for mounts. The wrappers use syscall() with the call's number for
 * two reasons: musl has no functions for the newer calls, and glibc's <sys/mount.h> conflicts with
 * <linux/mount.h>. Each function returns the call's result, or -1 with errno set. */
#ifndef KEYDROME_JAIL_FILESYSTEM_MOUNT_CALLS_H_
#define KEYDROME_JAIL_FILESYSTEM_MOUNT_CALLS_H_

#include <linux/mount.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A flag of umount2 that <linux/mount.h> does not define. */
#ifndef MNT_DETACH
#define MNT_DETACH 2
#endif

static inline int call_mount_setattr(int folder, const char* path, unsigned int flags,
                                     struct mount_attr* attributes) {
  return (int)syscall(SYS_mount_setattr, folder, path, flags, attributes, sizeof *attributes);
}

static inline int call_open_tree(int folder, const char* path, unsigned int flags) {
  return (int)syscall(SYS_open_tree, folder, path, flags);
}

static inline int call_move_mount(int tree, int folder, const char* path) {
  return (int)syscall(SYS_move_mount, tree, "", folder, path, MOVE_MOUNT_F_EMPTY_PATH);
}

static inline int call_fsopen(const char* type, unsigned int flags) {
  return (int)syscall(SYS_fsopen, type, flags);
}

static inline int call_fsconfig(int fs, unsigned int command, const char* key, const char* value) {
  return (int)syscall(SYS_fsconfig, fs, command, key, value, 0);
}

static inline int call_fsmount(int fs, unsigned int flags, unsigned int attributes) {
  return (int)syscall(SYS_fsmount, fs, flags, attributes);
}

static inline int call_mount(const char* source, const char* target, unsigned long flags) {
  return (int)syscall(SYS_mount, source, target, NULL, flags, NULL);
}

static inline int call_umount(const char* target, int flags) {
  return (int)syscall(SYS_umount2, target, flags);
}

#endif
