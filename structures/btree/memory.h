// Memory: takes blocks from the KeydromeEnvironment (keydrome/structure.h), the allocator that the
// caller of the B+-tree passes, and retires them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "keydrome/structure.h"

namespace keydrome::btree {

// For the small static functions of a search, which are always inlined.
#define KEYDROME_HOT __attribute__((always_inline)) static inline

// A node begins on a cache line.
inline constexpr size_t kLine = 64;

class Memory {
 public:
  explicit Memory(const KeydromeEnvironment& environment) : environment_(environment) {}

  // Returns nullptr if out of memory.
  void* allocate(size_t size, size_t alignment) const {
    return environment_.allocate(environment_.context, size, alignment);
  }
  void retire(void* memory, size_t size, size_t alignment) const {
    environment_.retire(environment_.context, memory, size, alignment);
  }

 private:
  KeydromeEnvironment environment_;
};

// Prefetches the cache lines [from, to) of a node. Must be inlined always: a function that only
// prefetches changes nothing that the language knows, so GCC 12 removes calls of it.
template <int write = 0>
KEYDROME_HOT void ask_lines(const void* node, uint32_t from, uint32_t to) {
  const auto* bytes = static_cast<const char*>(node);
  for (uint32_t line = from; line < to; ++line) __builtin_prefetch(bytes + kLine * line, write);
}

}  // namespace keydrome::btree
