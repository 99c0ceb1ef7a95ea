// Linked into a program, this puts its large allocations on huge pages, where the kernel has some:
// tables of a hundred megabytes that are read at random miss the translation buffer else, and on a
// virtual machine such a miss walks two page tables (certify_bench: a sixth of the CPU time).
//
// Replaces the allocation function of the whole program ([new.delete.single]), so it belongs to
// programs of our own alone, never to one that loads a library under test. Each large allocation
// takes up to one huge page more. Thread-safe. Left out under sanitizers, which have their own.
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
  // A wish: what the kernel says changes nothing.
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
