/* Hostile program, for testing the jail (a sandbox for one program): tries to change files outside
 * its working directory, and to make links, devices and pipes in the working directory. */
#include <fcntl.h>
#include <sys/stat.h>

#include "jail/tests/hostile/attempt.h"

static void read_only(const char* path) {
  refused(path, open(path, O_WRONLY | O_CREAT, 0600), EROFS);
}

int main(void) {
  read_only("/new");
  read_only("/lib/new");
  read_only("/usr/lib/new");
  read_only("/dev/new");
  refused("the program", open("/program", O_WRONLY), EACCES);
  refused("mkdir", mkdir("/folder", 0700), EROFS);
  refused("unlink", unlink("/program"), EROFS);
  refused("rename", rename("/program", "/work/program"), EXDEV);
  refused("chmod", chmod("/program", 0777), EROFS);
  refused("symlink", symlink("/etc/shadow", "/work/link"), EPERM);
  refused("hard link", link("/program", "/work/link"), EPERM);
  refused("device", mknod("/work/device", S_IFBLK | 0600, 0xfe00), EPERM);
  refused("fifo", mkfifo("/work/fifo", 0600), EPERM);
  refused("chown", chown("/work", 0, 0), EPERM);
  int file = open("own", O_RDWR | O_CREAT | O_EXCL, 0600);
  required("own file", file >= 0 && write(file, "x", 1) == 1);
  return attempt_result();
}
