// SpinLock: a lock of one byte for critical sections of some ten instructions. Where two threads
// seldom meet, it costs half as much as a Mutex: the unlock is one plain store.
//
//   SpinLock lock;
//   int value KEYDROME_GUARDED_BY(lock) = 0;
//   { const SpinGuard guard(lock); ++value; }
//
// A thread that finds the lock taken retries for about 100 ns and then yields, because the holder
// may be waiting for a processor. It never sleeps, so do not wait for other threads or for files
// while you hold the lock.
#pragma once

#include <atomic>
#include <thread>

#include "base/cache_line.h"
#include "base/thread_annotations.h"

namespace keydrome {

class KEYDROME_CAPABILITY("mutex") SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  // The acquire pairs with the release in unlock().
  void lock() KEYDROME_ACQUIRE() {
    for (int tried = 1; taken_.exchange(true, std::memory_order_acquire); ++tried) {
      tried % kTries == 0 ? std::this_thread::yield() : cpu_relax();
    }
  }
  void unlock() KEYDROME_RELEASE() { taken_.store(false, std::memory_order_release); }

 private:
  static constexpr int kTries = 8;

  std::atomic<bool> taken_ = false;
};

class KEYDROME_SCOPED_CAPABILITY SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) KEYDROME_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~SpinGuard() KEYDROME_RELEASE() { lock_.unlock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace keydrome
