// Pool: memory for the nodes of Abseil's B-tree. It takes chunks from the KeydromeEnvironment, the
// allocator that the caller of `create` passes.
//
// An insertion into this tree may split a node on each level. If an allocation fails between two
// splits, empty nodes stay in the tree. So reserve() gets the memory for all splits before an
// insertion begins.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include "base/check.h"
#include "keydrome/structure_class.h"

namespace keydrome {

class Pool final : public std::pmr::memory_resource {
 public:
  explicit Pool(const KeydromeEnvironment& environment) : memory_(environment) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() override {
    while (chunks_ != nullptr) {
      Chunk* chunk = chunks_;
      chunks_ = chunk->next;
      memory_.retire(chunk, chunk->bytes, alignof(Chunk));
    }
  }

  // Ensures that the next insertion needs no memory from the environment. If out of memory, throws
  // std::bad_alloc and leaves the pool unchanged.
  void reserve() {
    if (left_ >= kInsertion) return;
    const size_t bytes =
        chunks_ == nullptr ? 2 * kInsertion : std::min(kLargest, 2 * chunks_->bytes);
    void* place = memory_.allocate(bytes, alignof(Chunk));
    if (place == nullptr) throw std::bad_alloc();
    chunks_ = new (place) Chunk{chunks_, bytes};
    at_ = reinterpret_cast<std::byte*>(chunks_ + 1);
    left_ = bytes - sizeof(Chunk);
  }

 private:
  static constexpr size_t kUnit = 16;
  // An insertion makes at most 16 nodes of 512 bytes: a tree of 2^32 pairs has at most 15 levels,
  // and the root may also be split.
  static constexpr size_t kNode = 512;
  static constexpr size_t kInsertion = 16 * kNode;
  static constexpr size_t kLargest = size_t{256} << 10;

  struct alignas(kUnit) Chunk {
    Chunk* next;
    size_t bytes;
  };
  struct Free {
    Free* next;
  };

  static size_t units(size_t size) { return (size + kUnit - 1) / kUnit; }

  void* do_allocate(size_t size, size_t alignment) override {
    KEYDROME_CHECK(size <= kNode && alignment <= kUnit);
    Free*& list = free_[units(size)];
    if (list != nullptr) {
      Free* block = list;
      list = block->next;
      return block;
    }
    const size_t bytes = units(size) * kUnit;
    KEYDROME_CHECK(bytes <= left_);
    void* block = at_;
    at_ += bytes;
    left_ -= bytes;
    return block;
  }
  void do_deallocate(void* memory, size_t size, size_t) override {
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(memory, size);  // the tree poisons slots that it does not use
#endif
    Free*& list = free_[units(size)];
    list = new (memory) Free{list};
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  const StructureMemory memory_;
  Chunk* chunks_ = nullptr;
  std::byte* at_ = nullptr;  // the rest of the last chunk
  size_t left_ = 0;
  std::array<Free*, kNode / kUnit + 1> free_{};  // by size
};

}  // namespace keydrome
