// Implements LockManager: granting, waiting, waking, and the search for deadlocks. The header
// explains the rules.
#include "runtime/locks/lock_manager.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace keydrome::runtime {

namespace {

constexpr uint64_t kOvertakenMaxNs = 1'000'000;

bool compatible(LockMode a, LockMode b) { return a == LockMode::kShared && b == LockMode::kShared; }

// Returns true if an owner that has the lock in mode `held` may do all that `wanted` allows.
bool covers(LockMode held, LockMode wanted) {
  return held == LockMode::kExclusive || held == wanted;
}

}  // namespace

// A list of threads whose wait has ended. The caller wakes them after it has released its mutexes.
// If the caller woke them earlier, their next calls might have to wait for these mutexes.
class LockManager::WakeList {
 public:
  void push(Waiter& waiter, Waiter::State outcome) {
    waiter.outcome_ = outcome;
    waiter.next_to_wake_ = first_;
    first_ = &waiter;
  }

  void wake_all() {
    while (first_ != nullptr) {
      Waiter& waiter = *first_;
      first_ = waiter.next_to_wake_;  // read first: the woken thread may wait again
      waiter.wake(waiter.outcome_);
    }
  }

 private:
  Waiter* first_ = nullptr;
};

void Waiter::prepare_to_sleep() {
  const MutexLock guard(mutex_);
  state_ = State::kWaiting;
}

void Waiter::wake(State state) {
  const MutexLock guard(mutex_);
  state_ = state;
  condition_.notify_one();
}

Waiter::State Waiter::sleep() {
  const MutexLock guard(mutex_);
  while (state_ == State::kWaiting) condition_.wait(mutex_);
  return std::exchange(state_, state_ == State::kInvited ? State::kWaiting : State::kAwake);
}

bool Lock::grantable(const LockOwner& owner, LockMode mode) const {
  return std::all_of(holders_.begin(), holders_.end(), [&](const Holder& holder) {
    return holder.owner == &owner || compatible(holder.mode, mode);
  });
}

bool Lock::grantable(const Waiter& waiter) const {
  for (const Waiter* at = queue_; at != &waiter; at = at->next_in_queue_) {
    if (!compatible(at->mode_, waiter.mode_)) return false;
  }
  return grantable(*waiter.owner_, waiter.mode_);
}

const Lock::Holder* Lock::holder(const LockOwner& owner) const {
  const auto found = std::find_if(holders_.begin(), holders_.end(),
                                  [&](const Holder& one) { return one.owner == &owner; });
  return found == holders_.end() ? nullptr : &*found;
}

void Lock::grant(LockOwner& owner, LockMode mode) {
  for (Holder& holder : holders_) {
    if (holder.owner == &owner) {
      holder.mode = mode;
      return;
    }
  }
  holders_.push_back({&owner, mode});
}

void Lock::make_room() {
  size_t wanted = holders_.size() + 1;
  for (const Waiter* at = queue_; at != nullptr; at = at->next_in_queue_) ++wanted;
  holders_.reserve(wanted);
}

void Lock::drop(const LockOwner& owner) {
  const auto holder = std::find_if(holders_.begin(), holders_.end(),
                                   [&](const Holder& held) { return held.owner == &owner; });
  *holder = holders_.back();
  holders_.pop_back();
}

void Lock::enqueue(Waiter& waiter, bool upgrade) {
  Waiter** place = &queue_;
  while (!upgrade && *place != nullptr) place = &(*place)->next_in_queue_;
  waiter.next_in_queue_ = *place;
  *place = &waiter;
}

void Lock::dequeue(const Waiter& waiter) {
  Waiter** place = &queue_;
  while (*place != &waiter) place = &(*place)->next_in_queue_;
  *place = waiter.next_in_queue_;
}

LockOwner::Held* LockOwner::newest(const Lock& lock) {
  const auto end = held_.rbegin() + static_cast<std::ptrdiff_t>(std::min(kNewest, held_.size()));
  const auto found =
      std::find_if(held_.rbegin(), end, [&](const Held& one) { return one.lock == &lock; });
  return found == end ? nullptr : &*found;
}

void LockOwner::note(Lock& lock, LockMode mode, bool upgrade) {
  if (!upgrade) {
    held_.push_back({&lock, mode});
  } else if (Held* held = newest(lock)) {
    held->mode = mode;
  }
}

void LockOwner::make_room() {
  if (held_.size() == held_.capacity()) held_.reserve(2 * held_.size() + 1);
}

bool LockManager::acquire(LockOwner& owner, Lock& lock, LockMode mode) {
  const LockOwner::Held* held = owner.newest(lock);
  if (held != nullptr && covers(held->mode, mode)) return true;
  owner.make_room();
  const Attempt outcome = attempt(owner, lock, mode);
  if (outcome == Attempt::kHeld) return true;
  const bool upgrade = outcome == Attempt::kUpgraded || outcome == Attempt::kUpgradeBlocked;
  const bool blocked = outcome == Attempt::kBlocked || outcome == Attempt::kUpgradeBlocked;
  if (blocked && !wait(owner, lock, mode, upgrade)) {
    owner.was_victim_ = true;
    return false;
  }
  owner.note(lock, mode, upgrade);
  return true;
}

bool LockManager::try_acquire(LockOwner& owner, Lock& lock, LockMode mode) {
  owner.make_room();
  const Attempt outcome = attempt(owner, lock, mode);
  if (outcome == Attempt::kBlocked || outcome == Attempt::kUpgradeBlocked) return false;
  if (outcome != Attempt::kHeld) owner.note(lock, mode, outcome == Attempt::kUpgraded);
  return true;
}

LockView LockManager::view(const LockOwner& owner, Lock& lock) {
  const MutexLock guard(lock.mutex_);
  const bool mine = lock.holder(owner) != nullptr;
  return {mine, lock.holders_.size() > (mine ? 1u : 0u)};
}

LockManager::Attempt LockManager::attempt(LockOwner& owner, Lock& lock, LockMode mode) {
  const MutexLock guard(lock.mutex_);
  const Lock::Holder* mine = lock.holder(owner);
  if (mine != nullptr && covers(mine->mode, mode)) return Attempt::kHeld;
  if (lock.queue_ != nullptr || !lock.grantable(owner, mode)) {
    return mine == nullptr ? Attempt::kBlocked : Attempt::kUpgradeBlocked;
  }
  lock.grant(owner, mode);
  return mine == nullptr ? Attempt::kGranted : Attempt::kUpgraded;
}

bool LockManager::wait(LockOwner& owner, Lock& lock, LockMode mode, bool upgrade) {
  Waiter& waiter = owner.waiter_;
  WakeList wake_list;
  waiter.prepare_to_sleep();
  {
    const MutexLock graph(graph_mutex_);
    {
      const MutexLock guard(lock.mutex_);
      lock.make_room();
      const bool first = lock.queue_ == nullptr || upgrade || lock.queue_->invited_;
      if (first && lock.grantable(owner, mode)) {
        lock.grant(owner, mode);
        return true;
      }
      lock.enqueue(waiter, upgrade);
    }
    waiter.owner_ = &owner;
    waiter.lock_ = &lock;
    waiter.mode_ = mode;
    waiter.invited_ = false;
    waiter.overtaken_since_ns_ = 0;
    if (owner.age_ == 0) owner.age_ = ++last_age_;
    ++waits_;
    resolve_deadlocks(waiter, wake_list);
    if (waiter.lock_ != nullptr && !waiter.invited_) count(waiter, true);
  }
  wake_list.wake_all();
  for (;;) {
    const Waiter::State state = waiter.sleep();
    if (state != Waiter::State::kInvited) return state == Waiter::State::kGranted;
    if (accept_invitation(waiter)) return true;
  }
}

bool LockManager::accept_invitation(Waiter& waiter) {
  WakeList wake_list;
  {
    const MutexLock graph(graph_mutex_);
    if (waiter.lock_ == nullptr) return false;  // the thread has the lock now, or is a victim
    Lock& lock = *waiter.lock_;
    const MutexLock guard(lock.mutex_);
    waiter.invited_ = false;
    if (!lock.grantable(waiter)) {
      if (waiter.overtaken_since_ns_ == 0) waiter.overtaken_since_ns_ = now_ns();
      count(waiter, true);
      return false;
    }
    lock.grant(*waiter.owner_, waiter.mode_);
    lock.dequeue(waiter);
    waiter.lock_ = nullptr;
    serve_queue(lock, wake_list);
  }
  wake_list.wake_all();
  return true;
}

void LockManager::count(Waiter& waiter, bool waits) {
  if (std::exchange(waiter.counted_, waits) != waits) waits ? ++waiting_ : --waiting_;
}

void LockManager::release_all(LockOwner& owner) {
  locks_.fetch_add(owner.held_.size(), std::memory_order_relaxed);  // a statistic only
  WakeList wake_list;
  for (const LockOwner::Held& held : owner.held_) {
    Lock& lock = *held.lock;
    {
      const MutexLock guard(lock.mutex_);
      if (lock.queue_ == nullptr) {
        lock.drop(owner);
        continue;
      }
    }
    const MutexLock graph(graph_mutex_);
    const MutexLock guard(lock.mutex_);
    lock.drop(owner);
    serve_queue(lock, wake_list);
  }
  owner.held_.clear();
  wake_list.wake_all();
}

// Serves the threads at the front of the queue that could have the lock now. Invites each of them:
// wakes it, and leaves it in the queue. The thread then takes the lock itself, unless another
// thread is faster. If a thread was overtaken in this way at least kOvertakenMaxNs ago, this
// function gives it the lock instead.
//
// This function wakes an invited thread at once, while the caller still holds the mutexes, and does
// not put it on the wake list. After the mutexes are released, another thread could give this
// thread the lock or make it a victim. The thread could then destroy its Waiter before wake_all()
// uses it.
void LockManager::serve_queue(Lock& lock, WakeList& wake_list) {
  for (Waiter* at = lock.queue_; at != nullptr && lock.grantable(*at);) {
    Waiter& waiter = *at;
    at = waiter.next_in_queue_;
    count(waiter, false);
    const uint64_t since_ns = waiter.overtaken_since_ns_;
    if (since_ns != 0 && now_ns() - since_ns >= kOvertakenMaxNs) {
      lock.grant(*waiter.owner_, waiter.mode_);
      lock.dequeue(waiter);
      waiter.lock_ = nullptr;
      wake_list.push(waiter, Waiter::State::kGranted);
    } else if (!std::exchange(waiter.invited_, true)) {
      waiter.wake(Waiter::State::kInvited);
    }
  }
}

// Makes victims until no cycle contains the thread of `waiter`, which has just begun to wait. No
// other thread needs a search, because every new cycle contains this thread.
void LockManager::resolve_deadlocks(Waiter& waiter, WakeList& wake_list) {
  while (waiter.lock_ != nullptr) {
    ++last_visit_;
    Waiter* victim = youngest_on_cycle(waiter, waiter, &waiter);
    if (victim == nullptr) return;
    ++deadlocks_;
    make_victim(*victim, wake_list);
  }
}

// Searches the wait-for graph depth first from `at` for a cycle through `start`. Returns the
// youngest waiter of the cycle, or nullptr if there is none. `youngest` is the youngest waiter on
// the path from `start` to `at`. The depth of the recursion is at most the number of waiting
// threads.
//
// The function reads holders and queues without the locks' mutexes. It reads only locks for which
// threads wait. Their holders and queues change only under graph_mutex_, which the caller holds.
Waiter* LockManager::youngest_on_cycle(Waiter& at, const Waiter& start,
                                       Waiter* youngest) KEYDROME_NO_THREAD_SAFETY_ANALYSIS {
  at.visited_ = last_visit_;
  if (at.owner_->age_ > youngest->owner_->age_) youngest = &at;
  const auto follow = [&](Waiter& next) KEYDROME_NO_THREAD_SAFETY_ANALYSIS -> Waiter* {
    if (&next == &start) return youngest;
    if (next.lock_ == nullptr || next.visited_ == last_visit_) return nullptr;
    return youngest_on_cycle(next, start, youngest);
  };
  for (const Lock::Holder& holder : at.lock_->holders_) {
    if (holder.owner == at.owner_ || compatible(holder.mode, at.mode_)) continue;
    if (Waiter* found = follow(holder.owner->waiter_)) return found;
  }
  for (Waiter* ahead = at.lock_->queue_; ahead != &at; ahead = ahead->next_in_queue_) {
    if (compatible(ahead->mode_, at.mode_)) continue;
    if (Waiter* found = follow(*ahead)) return found;
  }
  return nullptr;
}

void LockManager::make_victim(Waiter& waiter, WakeList& wake_list) {
  Lock& lock = *waiter.lock_;
  const MutexLock guard(lock.mutex_);
  lock.dequeue(waiter);
  waiter.lock_ = nullptr;
  count(waiter, false);
  wake_list.push(waiter, Waiter::State::kVictim);
  serve_queue(lock, wake_list);
}

}  // namespace keydrome::runtime
