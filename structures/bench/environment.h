// Arena: the memory that structure_bench, the program that times data structures, gives to a
// structure. Its blocks have no headers, as contract B, the interface of a data structure, promises
// (keydrome/structure.h).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "keydrome/structure.h"

namespace keydrome::bench {

// Takes small blocks from chunks of 2 MiB, and maps each large block on its own. A retired small
// block is used again for an allocation of the same size and alignment.
//
// allocate and retire are thread-safe only between begin_threads() and end_threads(). Memory that
// is retired in this time is kept until end_threads(), because other calls may still read it. At
// other times only one thread may use the arena. It takes no lock then, because the time for the
// lock would be part of the measured times.
class Arena {
 public:
  explicit Arena(bool huge_pages) : huge_pages_(huge_pages) {
    environment_ = {sizeof environment_, 0, this, allocate, retire};
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  const KeydromeEnvironment* environment() const { return &environment_; }
  void begin_threads() { threads_.store(true); }
  void end_threads();
  // The number of blocks that are allocated and not yet retired.
  size_t blocks() const { return blocks_; }

 private:
  struct Free {
    Free* next;
  };
  struct Retired {
    void* memory;
    size_t size, alignment;
  };
  static constexpr size_t kStep = 16, kSmallMax = 4096, kLine = 64;
  static constexpr size_t kChunk = size_t{2} << 20;

  static void* allocate(void* context, size_t size, size_t alignment);
  static void retire(void* context, void* memory, size_t size, size_t alignment);
  static bool is_small(size_t size, size_t alignment) {
    return size <= kSmallMax && alignment <= kLine;
  }
  void* take(size_t size, size_t alignment);
  void give_back(void* memory, size_t size, size_t alignment);
  void* carve(size_t size, size_t alignment);
  void* map(size_t size, size_t alignment) const;
  Free*& free_list(size_t size, size_t alignment) {
    return free_[alignment > kStep][(size + kStep - 1) / kStep];
  }

  const bool huge_pages_;
  KeydromeEnvironment environment_{};
  // lists of free small blocks: [1 if the alignment is larger than kStep][size in units of kStep]
  std::array<std::array<Free*, kSmallMax / kStep + 1>, 2> free_{};
  std::vector<void*> chunks_;
  std::vector<Retired> retired_;  // retired between begin_threads() and end_threads()
  std::byte* at_ = nullptr;       // the unused rest of the last chunk
  std::byte* end_ = nullptr;
  size_t blocks_ = 0;
  std::atomic<bool> threads_ = false;
  std::mutex mutex_;
};

}  // namespace keydrome::bench
