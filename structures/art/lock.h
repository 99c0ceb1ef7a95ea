// Lock: the lock that a writer takes to change a node of the adaptive radix tree (V. Leis, F.
// Scheibner, A. Kemper, T. Neumann, "The ART of Practical Synchronization", DaMoN 2016, section 4).
// Readers ignore it. A node that is no longer part of the tree is *obsolete*. Its lock is never
// free again, so no writer can change it.
//
// There is no deadlock, because a thread that takes two locks takes the lock of the upper node
// first.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "base/cache_line.h"

namespace keydrome::art {

// Waits for another thread: spins for a short time, then yields the processor, so that the other
// thread can run.
class Wait {
 public:
  void once() {
    if (++turns_ < kTurns) {
      cpu_relax();
    } else {
      sched_yield();
    }
  }

 private:
  static constexpr uint32_t kTurns = 64;
  uint32_t turns_ = 0;
};

class Lock {
 public:
  // Waits until no thread holds the lock, and takes it. Returns false if the node is obsolete. The
  // acquire pairs with the release in unlock(): the caller sees all that the previous holder wrote.
  bool lock() {
    for (Wait wait;; wait.once()) {
      uint32_t state = kFree;
      if (state_.compare_exchange_weak(state, kTaken, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return true;
      }
      if (state == kObsolete) return false;
    }
  }
  // An exchange instead of a store: the processor completes all earlier stores before it, and so
  // before the next load of this thread. Otherwise two threads could each change a page, and each
  // could then miss the change of the other, which is not linearizable.
  void unlock() { state_.exchange(kFree, std::memory_order_seq_cst); }
  // Only the thread that holds the lock and has taken the node out of the tree may call this
  // function.
  void make_obsolete() { state_.store(kObsolete, std::memory_order_release); }

 private:
  enum State : uint32_t { kFree, kTaken, kObsolete };

  std::atomic<uint32_t> state_ = kFree;
};

// Takes the lock of a node, and holds it until the end of the scope. Takes nothing if the node is
// obsolete.
class Held {
 public:
  explicit Held(Lock& lock) : lock_(lock), held_(lock.lock()) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (held_) lock_.unlock();
  }

  explicit operator bool() const { return held_; }
  void make_obsolete() {
    lock_.make_obsolete();
    held_ = false;
  }

 private:
  Lock& lock_;
  bool held_;
};

}  // namespace keydrome::art
