// Latch: a short-term lock. It protects the structure of one index during one operation, or the
// critical section of commits (concurrency/families/buffered.h). A thread that holds a latch never
// waits for another transaction.
//
//   Latch latch(LatchKind::kShared);
//   {
//     const ReadLatch guard(latch);  // shared with other readers; a WriteLatch is exclusive
//     store.find(key, kAnyPayload, payload);
//   }
//
// Latches cannot deadlock: a thread that holds an index's latch takes no other latch, and a thread
// in the critical section takes only latches of indexes.
//
// A thread holds a latch for about a microsecond. A thread that finds the latch taken retries for
// about as long as it takes to wake a sleeping thread. If the latch is still taken, the thread
// sleeps. In an earlier version, threads slept at once. A reader and a writer then spent most of
// their time waking each other. The benchmark insert_ratio with 20 % inserts took 8 times as long
// under the configuration `gap`, and 3 times as long under `occ`.
//
// Between rounds of retries the thread yields. If there are more threads than processors, the
// thread that holds the latch may be waiting for a processor. The instance (named set of parameter
// values) `threads55` of the benchmark sigmod2009 has 27 threads per processor on two processors.
// There yielding is a quarter faster than retrying without yielding, and an eighth faster than
// sleeping at once.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "base/cache_line.h"

namespace keydrome::runtime {

enum class LatchKind : uint8_t {
  kNone,       // no latch: a stronger lock protects the structure, or no protection is wanted
  kExclusive,  // one thread at a time, reader or writer
  kShared,     // several readers, or one writer
};

// Has the functions of std::shared_mutex that std::shared_lock and std::unique_lock call.
// Thread-safe.
class Latch {
 public:
  explicit Latch(LatchKind kind) : kind_(kind) {}
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  void lock() {
    if (kind_ == LatchKind::kNone) return;
    if (!retry([this] { return mutex_.try_lock(); })) mutex_.lock();
  }
  void unlock() {
    if (kind_ != LatchKind::kNone) mutex_.unlock();
  }
  void lock_shared() {
    if (kind_ != LatchKind::kShared) return lock();
    if (!retry([this] { return mutex_.try_lock_shared(); })) mutex_.lock_shared();
  }
  void unlock_shared() {
    if (kind_ == LatchKind::kShared) {
      mutex_.unlock_shared();
    } else {
      unlock();
    }
  }

 private:
  // A round of retries takes about 6 us, or longer if another thread gets the processor.
  static constexpr int kRounds = 6, kTries = 64, kPauses = 2;

  template <typename Try>
  static bool retry(const Try& attempt) {
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
