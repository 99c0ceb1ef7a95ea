/* Hostile program, for testing the jail (a sandbox for one program): fills the working directory,
 * first with bytes, then with files. Prints how many of each fitted. */
#include <fcntl.h>

#include "jail/tests/hostile/attempt.h"

int main(void) {
  static char block[65536];
  int file = open("bytes", O_WRONLY | O_CREAT, 0600);
  long bytes = 0;
  ssize_t written;
  while ((written = write(file, block, sizeof block)) > 0) {
    bytes += written;
  }
  refused("more bytes", written, ENOSPC);
  unlink("bytes");
  long files = 0;
  int opened;
  do {
    char name[32];
    snprintf(name, sizeof name, "file%ld", files);
    opened = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (opened >= 0) {
      files++;
      close(opened);
    }
  } while (opened >= 0 && files < 1000000);
  refused("more files", opened, ENOSPC);
  printf("bytes %ld\nfiles %ld\n", bytes, files);
  return attempt_result();
}
