// Attacks on the accounting of a session: they use memory and CPU time while nothing is measured,
// or in such a way that other processes are charged for the memory and time. The comment above an
// attack names its cases in cases.json.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include "tests/hostile/attack.h"

#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#endif

namespace hostile {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void* map(size_t bytes, int flags = 0) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kPrivate | flags, -1, 0);
}

long failed(const void* mapped) { return mapped == MAP_FAILED ? -1 : 0; }

void burn_ms(uint64_t ms) {
  std::timespec now{};
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (static_cast<uint64_t>(now.tv_sec) * 1'000 +
               static_cast<uint64_t>(now.tv_nsec) / 1'000'000 <
           ms);
}

}  // namespace

// B31: maps huge pages that the administrator has reserved. The memory control group does not count
// them.
void map_reserved_huge_pages(Where) {
  refused("map", failed(map(4 * kMiB, MAP_HUGETLB)), EPERM);
  refused("map 2 MiB pages", failed(map(4 * kMiB, MAP_HUGETLB | 21 << MAP_HUGE_SHIFT)), EPERM);
  refused("memfd", memfd_create("huge", MFD_HUGETLB), EPERM);
}

// B31b: uses up memory in transparent huge pages.
void eat_huge_pages(Where) {
  for (;;) {
    void* space = map(64 * kMiB);
    required("map", space != MAP_FAILED && madvise(space, 64 * kMiB, MADV_HUGEPAGE) == 0);
    std::memset(space, 1, 64 * kMiB);
  }
}

// C28: lets ksmd, a thread of the kernel, compare and merge pages.
void merge_pages(Where) {
  void* space = map(kMiB);
  refused("advise", madvise(space, kMiB, MADV_MERGEABLE), EPERM);
  const uint64_t disguised = uint64_t{MADV_MERGEABLE} | uint64_t{1} << 32;
  refused("merge pages, with a disguised number", syscall(SYS_madvise, space, kMiB, disguised),
          EPERM);
  refused("merge all pages of the process", prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0), EPERM);
}

// D52: takes memory in the constructor, and gives it back while records are inserted. If the
// referee, the process that measures, counted memory only from the end of loading on, the records
// would seem to need none.
void hide_memory(Where where) {
  static void* space = nullptr;
  constexpr size_t kBytes = 48 * kMiB;
  if (where == kConstructor) {
    space = map(kBytes);
    required("take 48 MiB of memory", space != MAP_FAILED);
    std::memset(space, 1, kBytes);
  } else {
    required("give back 48 MiB of memory", munmap(space, kBytes) == 0);
  }
}

// D53, D53b: computes and takes memory in the constructor, before any clock runs.
void compute_early(Where) { burn_ms(2'500); }

void take_memory_early(Where) {
  void* space = map(320 * kMiB);
  required("take 320 MiB of memory", space != MAP_FAILED);
  std::memset(space, 1, 320 * kMiB);
}

// D54: does work in further threads, which end before the phase ends.
void work_in_short_threads(Where) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(burn_ms, 60);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace hostile
