// A short-term lock of one index's structure, around one store operation and never across a wait.
//
// Whoever holds a latch takes no other latch and waits for no transaction, so latches take no part
// in deadlocks.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace keydrome::runtime {

enum class LatchKind : uint8_t {
  kNone,       // something stronger protects the structure already
  kExclusive,  // one call at a time
  kShared,     // readers together
};

// A shared mutex in the eyes of std::shared_lock and std::unique_lock.
class Latch {
 public:
  explicit Latch(LatchKind kind) : kind_(kind) {}
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  void lock() {
    if (kind_ != LatchKind::kNone) mutex_.lock();
  }
  void unlock() {
    if (kind_ != LatchKind::kNone) mutex_.unlock();
  }
  void lock_shared() {
    if (kind_ == LatchKind::kShared) {
      mutex_.lock_shared();
    } else {
      lock();
    }
  }
  void unlock_shared() {
    if (kind_ == LatchKind::kShared) {
      mutex_.unlock_shared();
    } else {
      unlock();
    }
  }

 private:
  const LatchKind kind_;
  std::shared_mutex mutex_;
};

using ReadLatch = std::shared_lock<Latch>;
using WriteLatch = std::unique_lock<Latch>;

}  // namespace keydrome::runtime
