/* Hostile program, for testing the jail (a sandbox for one program): tries to make threads of the
 * kernel work for it, whose CPU time no control group counts, and to use huge pages that the memory
 * control group does not count.
 *
 * The program first makes calls that must succeed, because allocators depend on them. */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "jail/tests/hostile/attempt.h"

#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { kBytes = 4 << 20 };

static void merging(char* memory) {
  refused("merge pages", madvise(memory, kBytes, MADV_MERGEABLE), EPERM);
  /* The kernel reads only the low 32 bits of the advice. */
  const uint64_t disguised = (uint64_t)MADV_MERGEABLE | UINT64_C(1) << 32;
  refused("merge pages, disguised", syscall(SYS_madvise, memory, kBytes, disguised), EPERM);
  refused("merge all pages", prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0), EPERM);
  refused("poison a page", madvise(memory, kBytes, MADV_HWPOISON), EPERM);
}

static void rings(void) {
  char parameters[256] = "";
  refused("io_uring_setup", syscall(SYS_io_uring_setup, 8, parameters), EPERM);
  refused("io_uring_enter", syscall(SYS_io_uring_enter, 0, 1, 0, 0, NULL, 0), EPERM);
  refused("io_uring_register", syscall(SYS_io_uring_register, 0, 0, NULL, 0), EPERM);
  refused("io_setup", syscall(SYS_io_setup, 8, parameters), EPERM);
}

static void reserved_huge_pages(void) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
  void* mapped = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  refused("map huge pages", mapped == MAP_FAILED ? -1 : 0, EPERM);
  mapped = mmap(NULL, kBytes, PROT_READ, flags | 21 << MAP_HUGE_SHIFT, -1, 0);
  refused("map huge pages of 2 MiB", mapped == MAP_FAILED ? -1 : 0, EPERM);
  refused("a memfd of huge pages", memfd_create("huge", MFD_HUGETLB), EPERM);
}

static void ordinary_advice(char* memory) {
  static const int kAdvice[] = {
      MADV_NORMAL,   MADV_RANDOM,        MADV_SEQUENTIAL, MADV_WILLNEED,   MADV_DONTNEED,
      MADV_FREE,     MADV_UNMERGEABLE,   MADV_HUGEPAGE,   MADV_NOHUGEPAGE, MADV_DONTFORK,
      MADV_DONTDUMP, MADV_POPULATE_READ, MADV_COLD,       MADV_PAGEOUT,    MADV_POPULATE_WRITE};
  for (size_t i = 0; i < sizeof kAdvice / sizeof *kAdvice; i++) {
    /* EINVAL: this kernel does not have the advice. Only the jail's system call filter returns
     * EPERM. */
    errno = 0;
    int result = madvise(memory, kBytes, kAdvice[i]);
    required("ordinary advice", result == 0 || errno == EINVAL);
  }
  int result = madvise(memory, 4096, MADV_GUARD_INSTALL); /* glibc 2.42 guards stacks with this */
  required("guard pages", result == 0 || errno == EINVAL);
  int plain = memfd_create("plain", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  required("an ordinary memfd", plain >= 0);
}

int main(void) {
  char* memory = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  required("memory", memory != MAP_FAILED);
  ordinary_advice(memory);
  merging(memory);
  rings();
  reserved_huge_pages();
  return attempt_result();
}
