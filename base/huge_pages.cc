// Replaces operator new of the program that links this file. The new operator asks the kernel to
// put allocations of 4 MiB or more on transparent huge pages (madvise).
//
// Huge pages make random reads in large tables faster. With small pages, such reads in a table of
// some 100 MB often miss the TLB, and on a virtual machine each miss reads two page tables. In
// certify_bench, the checker's benchmark, huge pages save a sixth of the CPU time.
//
// The replacement also applies to all libraries that the program loads (C++ standard,
// [new.delete.single]). So link this file only into programs that load no library under test. Each
// large allocation takes up to 2 MiB more than requested. Thread-safe. With a sanitizer the file is
// empty, because sanitizers replace operator new themselves.
#ifndef KEYDROME_SANITIZED

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 2 * kHugePage;

void* allocate(std::size_t size) {
  if (size < kLarge) return std::malloc(size == 0 ? 1 : size);
  if (size > SIZE_MAX - kHugePage) return nullptr;
  const std::size_t rounded = (size + kHugePage - 1) / kHugePage * kHugePage;
  void* const memory = std::aligned_alloc(kHugePage, rounded);
  // The result is ignored, because the memory is usable even if the kernel refuses huge pages.
  if (memory != nullptr) static_cast<void>(madvise(memory, rounded, MADV_HUGEPAGE));
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  for (;;) {
    if (void* const memory = allocate(size)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#endif
