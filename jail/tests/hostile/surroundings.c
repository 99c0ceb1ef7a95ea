/* Test program for the jail (a sandbox for one program), not hostile: prints what a program sees in
 * the jail, one fact per line: environment, descriptors, privileges, folders and limits. The tests
 * check the lines. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char** environ;

static int compare(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

static void print_folder(const char* path) {
  char* names[64];
  int count = 0;
  DIR* folder = opendir(path);
  for (struct dirent* entry; folder && count < 64 && (entry = readdir(folder));) {
    if (entry->d_name[0] != '.') {
      names[count++] = strdup(entry->d_name);
    }
  }
  if (folder) {
    closedir(folder);
  }
  qsort(names, (size_t)count, sizeof *names, compare);
  printf("%s", path);
  for (int i = 0; i < count; i++) {
    printf(" %s", names[i]);
  }
  puts("");
}

static void print_descriptors(void) {
  printf("descriptors");
  for (int fd = 0; fd < 70000; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) {
      printf(" %d", fd);
    }
  }
  puts("");
}

static void print_privileges(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  memset(data, 0xff, sizeof data);
  /* The jail's system call filter refuses capget, so the capabilities are printed only if the
   * filter is disabled. */
  long got = syscall(SYS_capget, &header, data);
  if (got == 0) {
    printf("capabilities %x %x\n", data[0].permitted | data[0].effective | data[0].inheritable,
           data[1].permitted | data[1].effective | data[1].inheritable);
    printf("bounding %d\n", prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0));
  }
  printf("no_new_privs %d\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  printf("groups %d\n", getgroups(0, NULL));
  printf("ids %u %u %u %u\n", getuid(), geteuid(), getgid(), getegid());
}

static void print_limit(const char* name, __rlimit_resource_t resource) {
  struct rlimit limit;
  getrlimit(resource, &limit);
  printf("limit %s %lld %lld\n", name, (long long)limit.rlim_cur, (long long)limit.rlim_max);
}

int main(void) {
  char host[64] = "";
  char folder[256] = "";
  char byte;
  for (char** variable = environ; *variable; variable++) {
    printf("environment %s\n", *variable);
  }
  gethostname(host, sizeof host);
  printf("host %s\n", host);
  printf("folder %s\n", getcwd(folder, sizeof folder));
  printf("process %d %d\n", getpid(), getppid());
  printf("standard input %zd\n", read(STDIN_FILENO, &byte, 1));
  print_descriptors();
  print_privileges();
  print_folder("/");
  print_folder("/dev");
  print_folder("/work");
  print_limit("core", RLIMIT_CORE);
  print_limit("files", RLIMIT_NOFILE);
  print_limit("address_space", RLIMIT_AS);
  print_limit("memlock", RLIMIT_MEMLOCK);
  return 0;
}
