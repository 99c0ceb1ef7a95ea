// Latch: a lock for threads that change inner pages of a Bw-tree, or merge pages. These changes are
// rare, so they happen one after the other.
#pragma once

#include <atomic>

#include "base/spin_wait.h"

namespace keydrome::bwtree {

// Holds the latch until it is destroyed. Does nothing if `taken` is nullptr.
class [[nodiscard]] Latch {
 public:
  explicit Latch(std::atomic<bool>* taken) : taken_(taken) {
    if (taken_ == nullptr) return;
    for (SpinWait wait; taken_->exchange(true, std::memory_order_acquire); wait.once()) {
    }
  }
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;
  ~Latch() {
    // Pairs with the acquire of the next thread that takes the latch.
    if (taken_ != nullptr) taken_->store(false, std::memory_order_release);
  }

 private:
  std::atomic<bool>* const taken_;
};

}  // namespace keydrome::bwtree
