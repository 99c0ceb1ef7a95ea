// KeyLocks: sequence locks for the spread keys of the adaptive radix tree. A key is *spread* if its
// payloads are in several leaves and pages (tree.h). Several keys may share a lock.
//
// The value of a lock is odd while a thread holds the lock. In the tree, all loads of a reader
// between begin() and is_unchanged() are acquire loads, and all stores of a writer are release
// stores. So a reader that sees one of these stores also sees the odd value of the lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "structures/art/lock.h"
#include "structures/art/page.h"

namespace keydrome::art {

class KeyLocks {
 public:
  class Held {
   public:
    Held(KeyLocks& locks, const Pair& pair) : lock_(locks.lock_of(pair)) {
      for (Wait wait;; wait.once()) {
        before_ = lock_.load(std::memory_order_relaxed);
        if (before_ % 2 == 0 &&
            lock_.compare_exchange_weak(before_, before_ + 1, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
          return;
        }
      }
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { lock_.store(before_ + 2, std::memory_order_release); }

   private:
    std::atomic<uint64_t>& lock_;
    uint64_t before_;
  };

  // Waits until no thread holds the lock of the pair's key. Returns the value of the lock.
  uint64_t begin(const Pair& pair) {
    for (Wait wait;; wait.once()) {
      const uint64_t state = lock_of(pair).load(std::memory_order_acquire);
      if (state % 2 == 0) return state;
    }
  }
  bool is_unchanged(const Pair& pair, uint64_t state) {
    return lock_of(pair).load(std::memory_order_acquire) == state;
  }

 private:
  static constexpr uint32_t kLocks = 16;

  std::atomic<uint64_t>& lock_of(const Pair& pair) {
    return locks_[tag_of(pair.key, pair.key_size) % kLocks];
  }

  std::array<std::atomic<uint64_t>, kLocks> locks_{};
};

}  // namespace keydrome::art
