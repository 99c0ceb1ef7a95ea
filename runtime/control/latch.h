// A short-term lock: of one index's structure around one store operation, or of the critical
// section of commits (buffered.h). Never held across a wait for a transaction.
//
// Who holds an index's latch takes no other, and who is in the critical section takes only indexes'
// latches, so latches take no part in deadlocks. They are held for a microsecond or so: who finds
// one taken tries again for about as long as waking a sleeping thread takes, and sleeps only then.
// With sleep at once, two threads of which one reads and one writes did little but wake each other
// (insert_ratio, 20 % inserts: 8 times as long under `gap`, 3 times under `occ`). Where there are
// more threads than processors, the holder may be one of those that wait for a processor, so others
// get theirs in between (27 threads on each, `threads55`: a quarter faster than trying alone, an
// eighth faster than sleeping at once).
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "base/cache_line.h"

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
    if (kind_ == LatchKind::kNone) return;
    if (!comes_soon([this] { return mutex_.try_lock(); })) mutex_.lock();
  }
  void unlock() {
    if (kind_ != LatchKind::kNone) mutex_.unlock();
  }
  void lock_shared() {
    if (kind_ != LatchKind::kShared) return lock();
    if (!comes_soon([this] { return mutex_.try_lock_shared(); })) mutex_.lock_shared();
  }
  void unlock_shared() {
    if (kind_ == LatchKind::kShared) {
      mutex_.unlock_shared();
    } else {
      unlock();
    }
  }

 private:
  // A round is some 6 us, and longer when somebody else wants the processor.
  static constexpr int kRounds = 6, kTries = 64, kPauses = 2;

  template <typename Try>
  static bool comes_soon(const Try& attempt) {
    for (int round = 0; round < kRounds; ++round) {
      for (int tried = 0; tried < kTries; ++tried) {
        if (attempt()) return true;
        for (int paused = 0; paused < kPauses; ++paused) cpu_relax();
      }
      std::this_thread::yield();
    }
    return false;
  }

  const LatchKind kind_;
  std::shared_mutex mutex_;
};

using ReadLatch = std::shared_lock<Latch>;
using WriteLatch = std::unique_lock<Latch>;

}  // namespace keydrome::runtime
