/* Test program for the jail (a sandbox for one program), not hostile: checks that the signal
 * settings, closed descriptors and umask of the jail's caller do not reach the program. Exits with
 * 7, plus a bit for each kind of setting that reached it. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kRight = 7, kBlocked = 8, kIgnored = 16, kDescriptors = 32, kUnreadable = 64 };

static int wrong_signals(void) {
  int wrong = 0;
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, NULL, &blocked);
  for (int number = 1; number < NSIG; number++) {
    struct sigaction action;
    if (sigismember(&blocked, number) == 1) {
      wrong |= kBlocked;
    }
    if (number != SIGXFSZ && sigaction(number, NULL, &action) == 0 &&
        action.sa_handler == SIG_IGN) {
      wrong |= kIgnored;
    }
  }
  return wrong;
}

int main(void) {
  int wrong = wrong_signals();
  for (int fd = 0; fd < 3; fd++) {
    struct stat status;
    if (fstat(fd, &status) < 0 || S_ISDIR(status.st_mode)) {
      wrong |= kDescriptors;
    }
  }
  if (access("/usr/lib", R_OK | X_OK) < 0 || access("/dev/null", R_OK | W_OK) < 0) {
    wrong |= kUnreadable;
  }
  return kRight + wrong;
}
