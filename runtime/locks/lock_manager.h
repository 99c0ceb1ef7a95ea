// LockManager: shared and exclusive locks for transactions, with queues and deadlock detection.
//
//   LockManager locks;
//   Lock lock;                 // must outlive its holders
//   Waiter waiter;             // one per thread
//   LockOwner owner(waiter);   // one per transaction
//   if (!locks.acquire(owner, lock, LockMode::kExclusive)) {
//     // Deadlock, and this owner is the victim: roll back the transaction's changes here.
//   }
//   locks.release_all(owner);  // at the end of the transaction, also after a deadlock
//   owner.forget_age();        // at the end of the transaction, except after a deadlock
//
// Waiting. A thread sleeps while it waits, and waits for at most one lock at a time. Each lock has
// a queue, which is first come, first served. The exception is a thread that upgrades its shared
// lock to an exclusive one. It enters the queue at the front, because all others in the queue wait
// for its shared lock anyway.
//
// Invitations. A sleeping thread needs tens of microseconds to run again, far longer than a short
// transaction. If release_all gave the lock to a sleeping thread, the lock would be unused during
// this time. Therefore release_all only invites, that is, wakes, the threads at the front of the
// queue that could have the lock now. Until an invited thread runs, other threads may overtake it:
// they may take and release the lock. If other threads have overtaken a thread for kOvertakenMaxNs
// (1 ms), the next release gives it the lock, so no thread starves.
//
// Deadlocks. Before a thread waits, it searches the wait-for graph for a cycle through itself. The
// youngest owner in the cycle becomes the victim. An owner keeps its age until `forget_age`. A
// transaction that is repeated after a deadlock therefore becomes older than the others and finally
// succeeds. A thread that overtakes does not wait, so it adds no cycle.
//
// Order of mutexes: a thread takes graph_mutex_ before a lock's mutex, and a lock's mutex before a
// waiter's mutex. The queue of a lock changes only under both graph_mutex_ and the lock's mutex.
// The holders of a lock whose queue is not empty also change only under both mutexes. Hence the
// wait-for graph does not change while a thread holds graph_mutex_. A request that is granted
// while the queue is empty takes only the lock's own mutex.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/thread_annotations.h"

namespace keydrome::runtime {

enum class LockMode : uint8_t { kShared, kExclusive };

class Lock;
class LockManager;
class LockOwner;

// The object through which a thread sleeps until it can have its lock. Several owners may share a
// waiter if they never wait at the same time. A waiter outlives its owners.
class Waiter {
 public:
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

 private:
  friend class Lock;
  friend class LockManager;
  enum class State : uint8_t { kAwake, kWaiting, kInvited, kGranted, kVictim };

  void prepare_to_sleep() KEYDROME_EXCLUDES(mutex_);
  void wake(State state) KEYDROME_EXCLUDES(mutex_);
  // Returns kGranted, kVictim or kInvited. After kInvited the thread may sleep again.
  State sleep() KEYDROME_EXCLUDES(mutex_);

  // The request that this thread waits for; guarded by the manager's graph_mutex_.
  LockOwner* owner_ = nullptr;
  Lock* lock_ = nullptr;  // nullptr: not waiting
  LockMode mode_ = LockMode::kShared;
  Waiter* next_in_queue_ = nullptr;
  uint64_t visited_ = 0;
  bool counted_ = false;             // this waiter is counted in LockManager::waiting_
  bool invited_ = false;             // the thread was invited and has not yet run
  uint64_t overtaken_since_ns_ = 0;  // 0: not overtaken in this wait

  // Only the thread that ends the wait uses next_to_wake_ and outcome_, until it calls wake().
  Waiter* next_to_wake_ = nullptr;
  State outcome_ = State::kAwake;

  Mutex mutex_;
  Condition condition_;
  State state_ KEYDROME_GUARDED_BY(mutex_) = State::kAwake;
};

// A transaction, as the lock manager sees it. Only the thread of its waiter calls its functions.
class LockOwner {
 public:
  explicit LockOwner(Waiter& waiter) : waiter_(waiter) {}
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;

  // Makes the next wait assign a new age. Call this function when the transaction has ended, except
  // after a deadlock.
  void forget_age() {
    age_ = 0;
    was_victim_ = false;
  }
  // Returns true from the deadlock of which this owner was the victim until forget_age().
  bool was_victim() const { return was_victim_; }
  // Returns the number of locks that the owner holds.
  size_t held() const { return held_.size(); }

 private:
  friend class Lock;
  friend class LockManager;
  // newest() searches the last kNewest entries of held_. It needs no mutex, because only the
  // owner's thread uses held_. Held::mode may be weaker than the mode in the lock itself, because
  // an upgrade changes it only if newest() finds the entry.
  static constexpr size_t kNewest = 8;
  struct Held {
    Lock* lock;
    LockMode mode;
  };
  Held* newest(const Lock& lock);
  void make_room();
  void note(Lock& lock, LockMode mode, bool upgrade);

  Waiter& waiter_;
  // A smaller number is an older transaction; 0 means that no age is assigned yet. The age is
  // written in wait() before the search for a deadlock, and read under graph_mutex_.
  uint64_t age_ = 0;
  bool was_victim_ = false;
  std::vector<Held> held_;
};

class Lock {
 public:
  Lock() = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  friend class LockManager;
  struct Holder {
    LockOwner* owner;
    LockMode mode;
  };

  const Holder* holder(const LockOwner& owner) const KEYDROME_REQUIRES(mutex_);
  bool grantable(const LockOwner& owner, LockMode mode) const KEYDROME_REQUIRES(mutex_);
  // Returns true if this waiter could get the lock now, together with all waiters before it in the
  // queue.
  bool grantable(const Waiter& waiter) const KEYDROME_REQUIRES(mutex_);
  void grant(LockOwner& owner, LockMode mode) KEYDROME_REQUIRES(mutex_);
  // Reserves memory, so that later grants to the whole queue and to one more owner cannot fail. If
  // memory runs out, changes nothing and throws std::bad_alloc.
  void make_room() KEYDROME_REQUIRES(mutex_);
  void drop(const LockOwner& owner) KEYDROME_REQUIRES(mutex_);
  // Call make_room() first.
  void enqueue(Waiter& waiter, bool upgrade) KEYDROME_REQUIRES(mutex_);
  void dequeue(const Waiter& waiter) KEYDROME_REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<Holder> holders_ KEYDROME_GUARDED_BY(mutex_);
  Waiter* queue_ KEYDROME_GUARDED_BY(mutex_) = nullptr;
};

// Which owners hold a lock, seen from one owner.
struct LockView {
  bool mine;    // this owner holds the lock, in any mode
  bool others;  // at least one other owner holds the lock
};

struct LockStatistics {
  uint64_t locks;      // number of locks that were taken and released
  uint64_t waits;      // number of times that a thread waited for a lock
  uint64_t waiting;    // number of waiting threads, counted like waiting_ below
  uint64_t deadlocks;  // number of victims
};

class LockManager {
 public:
  LockManager() = default;
  LockManager(const LockManager&) = delete;
  LockManager& operator=(const LockManager&) = delete;

  // Waits until the owner has the lock in this mode or a stronger one. Returns false if the owner
  // is the victim of a deadlock; the caller must then roll back and call release_all. If memory
  // runs out, changes nothing and throws std::bad_alloc.
  bool acquire(LockOwner& owner, Lock& lock, LockMode mode);
  // Like acquire, but returns false instead of waiting. The caller may hold a latch.
  bool try_acquire(LockOwner& owner, Lock& lock, LockMode mode);
  // Returns whether this owner, and whether any other owner, holds the lock at this moment.
  LockView view(const LockOwner& owner, Lock& lock);
  void release_all(LockOwner& owner);
  LockStatistics statistics() const { return {locks_, waits_, waiting_, deadlocks_}; }

 private:
  class WakeList;
  enum class Attempt : uint8_t { kHeld, kGranted, kUpgraded, kBlocked, kUpgradeBlocked };

  static Attempt attempt(LockOwner& owner, Lock& lock, LockMode mode);
  bool wait(LockOwner& owner, Lock& lock, LockMode mode, bool upgrade)
      KEYDROME_EXCLUDES(graph_mutex_);
  // Called by an invited thread. Returns true if the waiter now has the lock. Returns false if the
  // thread must call sleep() again: another thread has overtaken it, has just granted it the lock,
  // or has just made it a victim.
  bool accept_invitation(Waiter& waiter) KEYDROME_EXCLUDES(graph_mutex_);
  // Adds the waiter to waiting_ if `waits` is true, and subtracts it otherwise. Does nothing if
  // this has been done already.
  void count(Waiter& waiter, bool waits) KEYDROME_REQUIRES(graph_mutex_);
  void resolve_deadlocks(Waiter& waiter, WakeList& wake_list) KEYDROME_REQUIRES(graph_mutex_);
  Waiter* youngest_on_cycle(Waiter& at, const Waiter& start, Waiter* youngest)
      KEYDROME_REQUIRES(graph_mutex_);
  void make_victim(Waiter& waiter, WakeList& wake_list) KEYDROME_REQUIRES(graph_mutex_);
  void serve_queue(Lock& lock, WakeList& wake_list) KEYDROME_REQUIRES(graph_mutex_, lock.mutex_);

  Mutex graph_mutex_;
  uint64_t last_age_ KEYDROME_GUARDED_BY(graph_mutex_) = 0;
  uint64_t last_visit_ KEYDROME_GUARDED_BY(graph_mutex_) = 0;
  std::atomic<uint64_t> locks_ = 0;
  std::atomic<uint64_t> waits_ = 0;
  // Number of waiting threads, without those that have been invited, granted the lock or made
  // victims but have not run since. Changes under graph_mutex_.
  std::atomic<uint64_t> waiting_ = 0;
  std::atomic<uint64_t> deadlocks_ = 0;
};

}  // namespace keydrome::runtime
