/* Hostile program, for testing the jail (a sandbox for one program): takes memory until the kernel
 * kills it at the memory limit.
 *
 * usage: memory_hog [huge]
 * With `huge`, the program asks for transparent huge pages, and prints "huge" if it gets one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { kChunk = 1 << 20, kHuge = 2 << 20, kPage = 4096 };

static long faults_so_far(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_minflt : 0;
}

static void take_huge_pages(void) {
  const size_t size = (size_t)1 << 30;
  char* space =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED || madvise(space, size, MADV_HUGEPAGE) != 0) {
    exit(1);
  }
  char* chunk = (char*)(((uintptr_t)space + kHuge - 1) / kHuge * kHuge);
  const long faults = faults_so_far();
  memset(chunk, 0x5a, kHuge);
  /* A huge page needs one page fault; small pages need one each. */
  if (faults_so_far() - faults < kHuge / kPage / 2) {
    puts("huge");
    fflush(stdout);
  }
  memset(chunk + kHuge, 0x5a, size - 2 * kHuge);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "huge") == 0) {
    take_huge_pages();
    return 1;
  }
  for (;;) {
    char* chunk = malloc(kChunk);
    if (!chunk) {
      return 1;
    }
    memset(chunk, 0x5a, kChunk);
  }
}
