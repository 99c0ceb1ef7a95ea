// Implements environment.h: takes small blocks from chunks, and maps large blocks.
#include "structures/bench/environment.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace keydrome::bench {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

}  // namespace

Arena::~Arena() {
  for (void* chunk : chunks_) munmap(chunk, kChunk);
}

void* Arena::allocate(void* context, size_t size, size_t alignment) {
  auto& arena = *static_cast<Arena*>(context);
  if (!arena.threads_.load(std::memory_order_relaxed)) return arena.take(size, alignment);
  const std::lock_guard lock(arena.mutex_);
  return arena.take(size, alignment);
}

void Arena::retire(void* context, void* memory, size_t size, size_t alignment) {
  auto& arena = *static_cast<Arena*>(context);
  if (!arena.threads_.load(std::memory_order_relaxed)) {
    arena.give_back(memory, size, alignment);
    return;
  }
  const std::lock_guard lock(arena.mutex_);
  arena.retired_.push_back({memory, size, alignment});
}

void Arena::end_threads() {
  threads_.store(false);
  for (const Retired& one : retired_) give_back(one.memory, one.size, one.alignment);
  retired_.clear();
}

void* Arena::take(size_t size, size_t alignment) {
  void* memory = nullptr;
  if (!is_small(size, alignment)) {
    memory = map(size, alignment);
  } else if (Free*& first = free_list(size, alignment); first != nullptr) {
    memory = first;
    first = first->next;
  } else {
    memory = carve(std::max(round_up(size, kStep), kStep), alignment > kStep ? kLine : kStep);
  }
  if (memory != nullptr) ++blocks_;
  return memory;
}

void Arena::give_back(void* memory, size_t size, size_t alignment) {
  --blocks_;
  if (!is_small(size, alignment)) {
    munmap(memory, round_up(size, kPage));
    return;
  }
  Free*& first = free_list(size, alignment);
  first = new (memory) Free{first};
}

void* Arena::carve(size_t size, size_t alignment) {
  const auto aligned = [&] {
    return at_ + (round_up(reinterpret_cast<uintptr_t>(at_), alignment) -
                  reinterpret_cast<uintptr_t>(at_));
  };
  if (at_ == nullptr || aligned() + size > end_) {
    void* chunk = map(kChunk, kHugePage);
    if (chunk == nullptr) return nullptr;
    chunks_.push_back(chunk);
    at_ = static_cast<std::byte*>(chunk);
    end_ = at_ + kChunk;
  }
  std::byte* memory = aligned();
  at_ = memory + size;
  return memory;
}

// Maps more memory than needed, and unmaps the parts before and after the aligned block.
void* Arena::map(size_t size, size_t alignment) const {
  const size_t bytes = round_up(size, kPage);
  const size_t wish = huge_pages_ && size >= kHugePage ? kHugePage : kPage;
  const size_t unit = std::max(alignment, wish);
  void* raw =
      mmap(nullptr, bytes + unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(raw);
  const size_t before =
      round_up(reinterpret_cast<uintptr_t>(begin), unit) - reinterpret_cast<uintptr_t>(begin);
  std::byte* memory = begin + before;
  if (before > 0) munmap(begin, before);
  munmap(memory + bytes, unit - before);
  // The result is ignored, because the memory is usable even if the kernel refuses huge pages.
  if (wish == kHugePage) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
  return memory;
}

}  // namespace keydrome::bench
