// Defines Mutex, MutexLock and Condition with clang's thread-safety annotations. With these
// annotations clang checks at compile time that a member marked KEYDROME_GUARDED_BY(mutex_) is used
// only while mutex_ is locked. g++ has no such check, so the annotations are empty there.
//
//     class Counter {
//       Mutex mutex_;
//       int value_ KEYDROME_GUARDED_BY(mutex_) = 0;
//      public:
//       void add() { MutexLock lock(mutex_); ++value_; }
//     };
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#if defined(__clang__)
#define KEYDROME_ANNOTATE(x) __attribute__((x))
#else
#define KEYDROME_ANNOTATE(x)
#endif

#define KEYDROME_CAPABILITY(name) KEYDROME_ANNOTATE(capability(name))
#define KEYDROME_SCOPED_CAPABILITY KEYDROME_ANNOTATE(scoped_lockable)
#define KEYDROME_GUARDED_BY(mutex) KEYDROME_ANNOTATE(guarded_by(mutex))
#define KEYDROME_PT_GUARDED_BY(mutex) KEYDROME_ANNOTATE(pt_guarded_by(mutex))
#define KEYDROME_REQUIRES(...) KEYDROME_ANNOTATE(requires_capability(__VA_ARGS__))
#define KEYDROME_ACQUIRE(...) KEYDROME_ANNOTATE(acquire_capability(__VA_ARGS__))
#define KEYDROME_RELEASE(...) KEYDROME_ANNOTATE(release_capability(__VA_ARGS__))
#define KEYDROME_TRY_ACQUIRE(...) KEYDROME_ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define KEYDROME_EXCLUDES(...) KEYDROME_ANNOTATE(locks_excluded(__VA_ARGS__))
#define KEYDROME_NO_THREAD_SAFETY_ANALYSIS KEYDROME_ANNOTATE(no_thread_safety_analysis)

namespace keydrome {

class KEYDROME_CAPABILITY("mutex") Mutex {
 public:
  void lock() KEYDROME_ACQUIRE() { mutex_.lock(); }
  void unlock() KEYDROME_RELEASE() { mutex_.unlock(); }
  bool try_lock() KEYDROME_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

class KEYDROME_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) KEYDROME_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() KEYDROME_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable for Mutex. A call of wait() may return without a notification. So call
// wait() in a loop that checks the condition for which the thread waits.
class Condition {
 public:
  // Unlocks `mutex`, waits for a notification, and locks `mutex` again.
  void wait(Mutex& mutex) KEYDROME_REQUIRES(mutex) {
    std::unique_lock<std::mutex> borrowed(mutex.mutex_, std::adopt_lock);
    condition_.wait(borrowed);
    borrowed.release();
  }
  // Does the same as wait(), but waits for at most about `us` microseconds.
  void wait_for_us(Mutex& mutex, uint64_t us) KEYDROME_REQUIRES(mutex) {
    std::unique_lock<std::mutex> borrowed(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(borrowed, std::chrono::microseconds(us));
    borrowed.release();
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace keydrome
