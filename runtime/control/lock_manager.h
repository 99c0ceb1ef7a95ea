// Shared and exclusive locks with queues and deadlock detection.
//
// A thread waits for at most one lock at a time, asleep. Queues are first come, first served
// (upgrades of a shared lock stand in front, since everybody behind waits for their holder anyway).
// A thread that sleeps takes tens of microseconds to run again, longer than a short transaction by
// far. If it were handed the lock, that would lie idle so long, once for every transaction of
// threads that want the same. So whose turn it is is only invited: until it runs, others may take
// the lock and give it back. Who is overtaken for kPatienceNs is handed the lock, so nobody
// starves.
//
// Before a thread waits it looks for a cycle of waiting threads through itself; the youngest owner
// in a cycle becomes the victim. An owner keeps its age until `forget_age`, so that one that is run
// again after a deadlock grows old and gets through. Who overtakes waits for nobody, and looks for
// cycles when it does: overtaking adds none that is not found.
//
// Order of mutexes: graph_mutex_, then a lock's mutex, then a waiter's. A queue changes only under
// graph_mutex_ and the lock's mutex, and so do the holders of a lock whose queue is not empty. So
// whoever holds graph_mutex_ sees a wait-for graph that stands still, and the way without waiting
// touches nothing but the lock's own mutex.
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

// One thread that may wait. The owners of one waiter never wait at the same time. Outlives its
// owners' use.
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
  // kGranted, kVictim, or kInvited, and then it may sleep on.
  State sleep() KEYDROME_EXCLUDES(mutex_);

  // The request this thread waits with; guarded by the manager's graph_mutex_.
  LockOwner* owner_ = nullptr;
  Lock* lock_ = nullptr;  // nullptr: not waiting
  LockMode mode_ = LockMode::kShared;
  Waiter* next_in_queue_ = nullptr;
  uint64_t visited_ = 0;
  bool counted_ = false;             // as waiting
  bool invited_ = false;             // and has not answered yet
  uint64_t overtaken_since_ns_ = 0;  // 0: not yet, in this wait

  // Set by the thread that ended the wait, until it has called wake.
  Waiter* next_to_wake_ = nullptr;
  State outcome_ = State::kAwake;

  Mutex mutex_;
  Condition condition_;
  State state_ KEYDROME_GUARDED_BY(mutex_) = State::kAwake;
};

// A transaction in the eyes of the lock manager. Used by its waiter's thread only.
class LockOwner {
 public:
  explicit LockOwner(Waiter& waiter) : waiter_(waiter) {}
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;

  // The next wait takes a fresh age. Call when the transaction has ended other than by a deadlock.
  void forget_age() { age_ = 0; }
  // How many locks it holds.
  size_t held() const { return held_.size(); }

 private:
  friend class Lock;
  friend class LockManager;
  // The newest few locks are found without asking the lock; `mode` may be weaker than what is held.
  static constexpr size_t kNewest = 8;
  struct Held {
    Lock* lock;
    LockMode mode;
  };
  Held* newest(const Lock& lock);
  void make_room();
  void note(Lock& lock, LockMode mode, bool upgrade);

  Waiter& waiter_;
  uint64_t age_ = 0;  // smaller is older; 0: none yet. Written before the owner is in a queue, read
                      // under graph_mutex_
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
  // Whether the one in the queue could have the lock now, with everybody in front of it.
  bool grantable(const Waiter& waiter) const KEYDROME_REQUIRES(mutex_);
  void grant(LockOwner& owner, LockMode mode) KEYDROME_REQUIRES(mutex_);
  // Grants to the whole queue and one more need no memory after this. Throws std::bad_alloc, with
  // nothing changed.
  void make_room() KEYDROME_REQUIRES(mutex_);
  void drop(const LockOwner& owner) KEYDROME_REQUIRES(mutex_);
  // After make_room().
  void enqueue(Waiter& waiter, bool upgrade) KEYDROME_REQUIRES(mutex_);
  void dequeue(const Waiter& waiter) KEYDROME_REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<Holder> holders_ KEYDROME_GUARDED_BY(mutex_);
  Waiter* queue_ KEYDROME_GUARDED_BY(mutex_) = nullptr;
};

// How a lock looks to one owner.
struct LockView {
  bool mine;    // the owner holds it, in whatever mode
  bool others;  // so does somebody else
};

struct LockStatistics {
  uint64_t locks;  // that were held and have been released
  uint64_t waits;
  uint64_t waiting;  // at this moment
  uint64_t deadlocks;
};

class LockManager {
 public:
  LockManager() = default;
  LockManager(const LockManager&) = delete;
  LockManager& operator=(const LockManager&) = delete;

  // Waits until the owner has the lock in this mode or a stronger one. False: the owner is the
  // victim of a deadlock and should release everything. Throws std::bad_alloc, with nothing
  // changed.
  bool acquire(LockOwner& owner, Lock& lock, LockMode mode);
  // The same without waiting. False: it would have to wait. Fit for use under a latch.
  bool try_acquire(LockOwner& owner, Lock& lock, LockMode mode);
  // What the owner and the others hold at this moment.
  LockView view(const LockOwner& owner, Lock& lock);
  void release_all(LockOwner& owner);
  LockStatistics statistics() const { return {locks_, waits_, waiting_, deadlocks_}; }

 private:
  class WakeList;
  enum class Attempt : uint8_t { kHeld, kGranted, kUpgraded, kBlocked, kUpgradeBlocked };

  static Attempt attempt(LockOwner& owner, Lock& lock, LockMode mode);
  bool wait(LockOwner& owner, Lock& lock, LockMode mode, bool upgrade)
      KEYDROME_EXCLUDES(graph_mutex_);
  // False: somebody overtook the waiter, or it was decided otherwise, so it waits on.
  bool answer_invitation(Waiter& waiter) KEYDROME_EXCLUDES(graph_mutex_);
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
  // Counts whom nobody has decided to wake yet; changes under graph_mutex_.
  std::atomic<uint64_t> waiting_ = 0;
  std::atomic<uint64_t> deadlocks_ = 0;
};

}  // namespace keydrome::runtime
