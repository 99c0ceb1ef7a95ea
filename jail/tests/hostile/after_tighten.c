/* Hostile program, for testing the jail (a sandbox for one program): calls keydrome_tighten(), by
 * which a program gives up rights after it has loaded its libraries (the jail's second stage). Then
 * tries what the second stage must refuse. Some attempts are also made in a thread that a
 * constructor has started. The program first checks that executable memory, opening files and
 * unprotecting code are possible before the call. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "jail/tests/hostile/attempt.h"
#include "jail/tighten.h"

static atomic_int layers;
static pthread_t early_thread;

static void no_code(const char* who) {
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  required("plain memory", page != MAP_FAILED);
  refused(who, mprotect(page, 4096, PROT_READ | PROT_EXEC), EPERM);
  void* code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  refused(who, code == MAP_FAILED ? -1 : 0, EPERM);
  munmap(page, 4096);
}

/* The thread that the constructor started: waits until main has tightened the process, then makes
 * its attempts. The seq_cst load of `layers` synchronises with the store in main. */
static void* early(void* unused) {
  while (atomic_load(&layers) == 0) {
    sched_yield();
  }
  no_code("code in the early thread");
  if (atomic_load(&layers) & KEYDROME_TIGHTEN_LANDLOCK_ALL) {
    refused("open in the early thread", open("/program", O_RDONLY), EACCES);
  }
  return unused;
}

__attribute__((constructor)) static void start_early_thread(void) {
  pthread_create(&early_thread, NULL, early, NULL);
}

/* A table in relocated read-only data: the loader writes the address of printf and then
 * write-protects the page. */
__attribute__((used)) static int (*const relocated[])(const char*, ...) = {printf};

static void* page_of(const volatile void* address) {
  return (void*)((uintptr_t)address & ~(uintptr_t)4095);
}

/* Makes the page of `what` writable and not executable. The filter of the second stage allows this;
 * only sealing with mseal refuses it. While the page is not executable, the process must not run
 * code in it. */
static long unprotect(const volatile void* what) {
  return mprotect(page_of(what), 4096, PROT_READ | PROT_WRITE);
}

static void sealed(const void* library_code) {
  refused("unprotecting the table of functions", unprotect(relocated), EPERM);
  refused("unprotecting code of a library", unprotect(library_code), EPERM);
  refused("unmapping code of a library", munmap(page_of(library_code), 4096), EPERM);
  void* other =
      mmap(page_of(relocated), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  refused("replacing the table of functions", other == MAP_FAILED ? -1 : 0, EPERM);
  refused("sealing more", syscall(462, page_of(library_code), 4096, 0), EPERM);
  required("the table is unchanged", relocated[0] == printf);
}

static void opening(void) {
  refused("the program", open("/program", O_RDONLY), EACCES);
  refused("a library", open("/lib/x86_64-linux-gnu/libm.so.6", O_RDONLY), EACCES);
  refused("the root", open("/", O_RDONLY | O_DIRECTORY), EACCES);
  refused("climbing", open("../program", O_RDONLY), EACCES);
  refused("another library", dlopen("libm.so.6", RTLD_NOW) ? 0 : -1, EACCES);
  required("null", open("/dev/null", O_RDWR) >= 0);
  required("urandom", open("/dev/urandom", O_RDONLY) >= 0);
  int file = open("inside", O_RDWR | O_CREAT, 0600);
  required("a file inside", file >= 0 && write(file, "x", 1) == 1 && ftruncate(file, 0) == 0);
  required("rename inside", rename("inside", "renamed") == 0 && unlink("renamed") == 0);
}

int main(void) {
  char reason[256] = "";
  void* before = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  required("executable memory before", before != MAP_FAILED);
  required("opening before", open("/program", O_RDONLY) >= 0);
  void* library = dlopen("libgcc_s.so.1", RTLD_NOW);
  required("a library", library != NULL);
  const void* library_code = library ? dlsym(library, "_Unwind_Backtrace") : NULL;
  required("unprotecting before", unprotect(relocated) == 0 && unprotect(library_code) == 0);
  mprotect(page_of(relocated), 4096, PROT_READ);
  mprotect(page_of(library_code), 4096, PROT_READ | PROT_EXEC);
  int result = keydrome_tighten("/work", reason, sizeof reason);
  printf("layers %d %s\n", result, reason);
  required("tightened", result > 0);
  if (result <= 0) {
    return attempt_result();
  }
  atomic_store(&layers, result);
  no_code("code");
  if (result & KEYDROME_TIGHTEN_LANDLOCK) {
    opening();
  }
  if (result & KEYDROME_TIGHTEN_MSEAL) {
    sealed(library_code);
  }
  refused("one more filter", syscall(SYS_seccomp, 1, 0, NULL), EPERM);
  refused("prctl", prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), EPERM);
  required("thread names", prctl(PR_SET_NAME, "named", 0, 0, 0) == 0);
  refused("landlock", syscall(SYS_landlock_create_ruleset, NULL, 0, 1), EPERM);
  refused("tightening twice", keydrome_tighten("/work", reason, sizeof reason), EPERM);
  pthread_join(early_thread, NULL);
  return attempt_result();
}
