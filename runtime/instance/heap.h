// Heap: the memory of all data structures of a runtime. It implements `allocate` and `retire` (give
// memory back) of KeydromeEnvironment (keydrome/structure.h).
//
// A block is the memory of one allocation. The caller of `retire` names the block's size and
// alignment, so blocks need no headers. Small blocks have one of about a hundred sizes (size
// classes). The heap cuts them from spans of 8 to 64 KiB, and the spans from chunks of 2 MiB, and
// keeps free blocks in a list per class. Large blocks come from the C library. The heap keeps the
// chunks until it is destroyed. All chunks but the first few are on huge pages if the kernel allows
// it.
//
// Thread safety: any thread may call any function. Each thread uses one of several shards, each
// with a lock and lists of its own, so that threads seldom wait for each other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/cache_line.h"
#include "keydrome/structure.h"

namespace keydrome::runtime {

class Heap {
 public:
  Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  // Precondition: no structure uses the memory any more.
  ~Heap();

  // Returns nullptr if memory is exhausted. `alignment` is a power of two, at most 2 MiB.
  void* allocate(size_t size, size_t alignment);
  // Makes a block available for the next allocation. Size and alignment are those of allocate().
  void free(void* memory, size_t size, size_t alignment);

  // The environment of every structure. Its `retire` frees at once, except in calls without a
  // latch: these delay the freeing until no other call can use the memory (grace.h).
  const KeydromeEnvironment& environment() const { return environment_; }

  // Returns the sum of the sizes of all blocks that are allocated now. Exact if no other thread
  // allocates or frees.
  uint64_t bytes() const;
  // Returns how much memory the heap has taken for small blocks.
  uint64_t chunk_bytes() const { return chunk_bytes_; }

 private:
  static constexpr size_t kShards = 16;
  static constexpr size_t kClasses = 112;
  static constexpr size_t kSmallMin = sizeof(void*) * 2;  // a free block holds a Free
  static constexpr size_t kSmallMax = 8192;
  static constexpr uint32_t kBatch = 64;
  // Sizes of spans. All are multiples of kSpanMin, so every span is aligned to kSpanMin.
  static constexpr size_t kSpanMin = kSmallMax;
  static constexpr size_t kSpanMax = size_t{64} << 10;
  static constexpr size_t kChunk = size_t{2} << 20;

  // A thread holds this lock for about ten instructions. A thread that finds it taken yields,
  // because the holder may be waiting for a processor.
  class SpinLock {
   public:
    void lock() {
      while (taken_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

   private:
    std::atomic<bool> taken_ = false;
  };
  struct Free {
    Free* next;
    Free* next_batch;  // only in the first block of a batch in batches_
  };
  // The free memory for blocks of one size: a list of free blocks, and the part of a span that is
  // not yet cut into blocks.
  struct Class {
    Free* list = nullptr;
    uint32_t listed = 0;
    size_t bytes = 0;  // total size of the spans of this class
    uint8_t* at = nullptr;
    uint8_t* end = nullptr;
  };
  struct alignas(kCacheLine) Shard {
    SpinLock lock;
    std::array<Class, kClasses> classes;
    // The bytes that threads of this shard have allocated, minus those that they have freed. May be
    // negative. Only a thread with the lock writes it.
    std::atomic<int64_t> bytes = 0;
  };

  static size_t class_of(size_t size);
  static size_t block_bytes(size_t number);
  static bool small_class(size_t size, size_t alignment, size_t& number);
  static void count(Shard& shard, int64_t bytes);
  Shard& shard();
  void* take(Shard& shard, size_t number);
  Free* take_batch(size_t number);
  void give_away(Class& blocks, size_t number);
  bool take_span(Class& blocks);

  KeydromeEnvironment environment_;
  const std::unique_ptr<Shard[]> shards_;
  std::atomic<uint64_t> chunk_bytes_ = 0;
  SpinLock common_lock_;  // guards the members below; may be taken while holding a shard's lock
  // Batches of kBatch free blocks, which any shard may take. Without them, memory would grow
  // without bound if one thread allocated and another one freed.
  std::array<Free*, kClasses> batches_{};
  std::vector<void*> chunks_;
  uint8_t* span_at_ = nullptr;
  uint8_t* span_end_ = nullptr;
};

}  // namespace keydrome::runtime
