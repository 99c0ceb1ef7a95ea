/* Hostile program, for testing the jail (a sandbox for one program): a thread installs its own
 * seccomp filter. Then the program calls keydrome_tighten(), the second stage of the jail, which
 * also installs a filter. The kernel then cannot install the second stage's filter in that thread,
 * so keydrome_tighten() must fail. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "jail/tests/hostile/attempt.h"
#include "jail/tighten.h"

static sem_t installed;

static void* install(void* unused) {
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {.len = 1, .filter = &allow};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  required("own filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
  sem_post(&installed);
  pause();
  return unused;
}

int main(void) {
  char reason[256] = "";
  pthread_t thread;
  sem_init(&installed, 0, 0);
  pthread_create(&thread, NULL, install, NULL);
  sem_wait(&installed);
  int result = keydrome_tighten("/work", reason, sizeof reason);
  required("tightening fails", result == -1);
  required("and says where", strstr(reason, "second system call filter") != NULL);
  required("and why", strstr(reason, "a filter of its own") != NULL);
  return attempt_result();
}
