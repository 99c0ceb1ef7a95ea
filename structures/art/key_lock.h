// KeyLocks: sequence locks for spread keys (tree.h). Several keys may share a lock.
//
// A lock is odd while a thread has it. Everything that a reader reads between begin() and
// is_unchanged() are acquire loads, and the writer's stores are release stores. So a reader that
// sees any of these stores also sees that the lock was taken.
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

  // Returns the state of the lock of the pair's key, when no thread has it.
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
