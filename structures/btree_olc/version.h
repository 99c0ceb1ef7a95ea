// Version: the latch of a leaf and the number of its changes, in one word.
//
// A writer latches the leaf, changes it, and counts the change when it unlatches. A reader takes no
// latch: it reads the version, then the leaf, then the version again, and begins again if the leaf
// was latched or has changed. A leaf that another one has replaced is obsolete for ever.
//
// TreeLatch: the latch of threads that replace nodes. There is no deadlock: a thread that has the
// latch of a leaf waits for another latch only if it also has the tree latch, which it took first.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/spin_wait.h"
#include "structures/btree_olc/shared.h"

namespace keydrome::btree_olc {

class Version {
 public:
  // For readers: waits until no thread has the latch, and returns the version. The reader then sees
  // all earlier changes of the leaf.
  uint64_t begin() const {
    for (SpinWait wait;; wait.once()) {
      const uint64_t word = word_.load(std::memory_order_acquire);
      if ((word & kLatched) == 0) return word;
    }
  }
  static bool is_obsolete(uint64_t version) { return (version & kObsolete) != 0; }
  // Returns true if the leaf has not changed since begin() returned `version`. What was read in
  // between is then the state of one moment.
  bool is_unchanged(uint64_t version) const {
    fence_before_check();
    return word_.load(std::memory_order_relaxed) == version;
  }

  // Waits for the latch. Returns false, without the latch, if the leaf is obsolete.
  bool latch() {
    for (SpinWait wait;; wait.once()) {
      uint64_t word = word_.load(std::memory_order_relaxed);
      if ((word & kObsolete) != 0) return false;
      if ((word & kLatched) == 0 &&
          word_.compare_exchange_weak(word, word | kLatched, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        fence_after_latch();
        return true;
      }
    }
  }
  // For the thread that has the latch. If `changed` is true, readers that have read the old version
  // begin again. Then an exchange takes the place of a store: the processor completes all earlier
  // stores before it, and so before the next load of this thread. Otherwise two threads could each
  // change a leaf, and each could then miss the change of the other.
  void unlatch(bool changed) {
    const uint64_t word = word_.load(std::memory_order_relaxed) & ~kLatched;
    if (changed) {
      word_.exchange(word + kChange, std::memory_order_seq_cst);
    } else {
      word_.store(word, std::memory_order_release);
    }
  }
  void make_obsolete() { word_.store(kObsolete, std::memory_order_release); }

  bool is_free() const { return (word_.load() & (kLatched | kObsolete)) == 0; }

 private:
  static constexpr uint64_t kLatched = 1;
  static constexpr uint64_t kObsolete = 2;
  static constexpr uint64_t kChange = 4;

  std::atomic<uint64_t> word_ = 0;
};

class TreeLatch {
 public:
  class Held {
   public:
    explicit Held(TreeLatch& latch) : latch_(latch) {
      for (SpinWait wait; latch_.is_taken_.exchange(true, std::memory_order_acquire);) wait.once();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    // An exchange for the same reason as in Version::unlatch().
    ~Held() { latch_.is_taken_.exchange(false, std::memory_order_seq_cst); }

   private:
    TreeLatch& latch_;
  };

 private:
  std::atomic<bool> is_taken_ = false;
};

}  // namespace keydrome::btree_olc
