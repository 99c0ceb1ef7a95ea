#include "runtime/control/gap_2pl.h"

#include <optional>
#include <vector>

#include "runtime/control/mutant.h"

namespace keydrome::runtime {

namespace {

using Kind = LockName::Kind;

LockName key_name(const Index& index, KeydromeBytes key) { return {index, Kind::kKey, key}; }
LockName gap_name(const Index& index, KeydromeBytes key) { return {index, Kind::kGap, key}; }

}  // namespace

struct Gap2pl::Named final : Locking {
  explicit Named(Waiter& waiter) : Locking(waiter) {}
  std::vector<LockTable::Entry*> entries;  // of the locks held, each taken once
};

struct Gap2pl::Wanted {
  std::optional<LockName> name;  // none: nothing is in the way
  LockMode mode = LockMode::kShared;

  // For the tail of a condition: remembers what is in the way.
  bool blocked_by(const LockName& blocking, LockMode wanted) {
    name = blocking;
    mode = wanted;
    return false;
  }
};

// The first key from a bound on, or the end, and the names of its locks.
class Gap2pl::Neighbor {
 public:
  Neighbor(const Index& index, const Bound& bound)
      : index_(index), found_(read_first(index.store(), bound, pair_)) {}

  bool failed() const { return found_ < 0; }
  bool is_end() const { return found_ == 0; }
  bool has_key(KeydromeBytes key) const { return found_ == 1 && equal(pair_.key(), key); }
  const Pair& pair() const { return pair_; }
  LockName key() const { return key_name(index_, pair_.key()); }
  LockName gap() const {
    return is_end() ? LockName{index_, Kind::kEnd, {nullptr, 0}} : gap_name(index_, pair_.key());
  }

 private:
  const Index& index_;
  Pair pair_;
  int found_;
};

std::unique_ptr<IndexControl> Gap2pl::make_index_control() {
  return std::make_unique<Content>(latch_);
}

std::unique_ptr<ControlSession> Gap2pl::make_session() {
  return std::make_unique<SessionOf<Named>>();
}

// Calls `acquire(lock)` and keeps the lock's name as long as the lock.
template <class Acquire>
auto Gap2pl::with_lock(Named& transaction, const LockName& name, Acquire&& acquire) {
  std::vector<LockTable::Entry*>& entries = transaction.entries;
  if (entries.size() == entries.capacity()) entries.reserve(2 * entries.size() + 1);
  LockTable::Lease lease = table_.take(name);
  const size_t held = transaction.owner.held();
  const auto answer = acquire(lease.entry().lock);
  if (transaction.owner.held() > held) entries.push_back(&lease.keep());
  return answer;
}

bool Gap2pl::try_lock(Named& transaction, const LockName& name, LockMode mode) {
  return with_lock(transaction, name,
                   [&](Lock& lock) { return locks_.try_acquire(transaction.owner, lock, mode); });
}

// SUCCESS or DEADLOCK.
ErrCode Gap2pl::wait(Named& transaction, const Wanted& wanted) {
  return with_lock(transaction, *wanted.name,
                   [&](Lock& lock) { return acquire(transaction, lock, wanted.mode); });
}

ErrCode Gap2pl::lock_key(Named& transaction, Index& index, KeydromeBytes key, LockMode mode) {
  transaction.pins.add(index);
  const LockName name = key_name(index, key);
  if (try_lock(transaction, name, mode)) return SUCCESS;
  return wait(transaction, {name, mode});
}

LockView Gap2pl::view(const Named& transaction, const LockName& name) {
  const std::optional<LockTable::Lease> lease = table_.take_if_there(name);
  return lease ? locks_.view(transaction.owner, lease->entry().lock) : LockView{false, false};
}

void Gap2pl::after_release(Locking& transaction) {
  auto& self = static_cast<Named&>(transaction);
  for (LockTable::Entry* entry : self.entries) table_.give_back(*entry);
  self.entries.clear();
}

// Only for a mutant: locks end with the statement.
void Gap2pl::release_early(Named& transaction) {
  locks_.release_all(transaction.owner);
  after_release(transaction);
}

ErrCode Gap2pl::get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) {
  auto& self = static_cast<Named&>(transaction);
  const ErrCode locked = mutant(6) ? SUCCESS : lock_key(self, index, key, LockMode::kShared);
  if (locked != SUCCESS) return locked;
  if (mutant(21)) release_early(self);
  const ReadLatch latch(content_of(index).latch);
  return read_key(index, cursor, key);
}

ErrCode Gap2pl::get_next(Transaction& transaction, Index& index, Cursor& cursor) {
  auto& self = static_cast<Named&>(transaction);
  self.pins.add(index);
  for (;;) {
    Wanted blocked;
    const ErrCode code = step(self, index, cursor, blocked);
    if (mutant(21) && !blocked.name) release_early(self);
    if (!blocked.name) return code;
    const ErrCode waited = wait(self, blocked);
    if (waited != SUCCESS) return waited;
  }
}

// One try to read the next pair. Says what to wait for when a lock is not free; the cursor has not
// moved then.
ErrCode Gap2pl::step(Named& transaction, Index& index, Cursor& cursor, Wanted& blocked) {
  const ReadLatch latch(content_of(index).latch);
  const Store& store = index.store();
  if (content_of(index).broken || refresh(content_of(index), store, cursor) < 0) return FAILURE;
  KeydromePosition after = cursor.position;
  Pair next;
  const int found = read_next(store, after, next);
  if (found < 0) {
    cursor.has_position = false;
    return FAILURE;
  }
  const auto lock = [&](const LockName& name) {
    if (mutant(6) || (mutant(26) && name.kind() != Kind::kKey)) return true;
    return try_lock(transaction, name, LockMode::kShared) ||
           blocked.blocked_by(name, LockMode::kShared);
  };
  if (found == 0) {
    lock({index, Kind::kEnd, {nullptr, 0}});
    return DB_END;
  }
  // Another payload of the cursor's key: the lock of that key is held since it was read.
  const bool same_key =
      cursor.place == Cursor::Place::kAfterPair && equal(next.key(), cursor.key_bytes());
  if (same_key || (lock(key_name(index, next.key())) && lock(gap_name(index, next.key())))) {
    place_on(cursor, next);
    cursor.position = after;
  }
  return SUCCESS;
}

ErrCode Gap2pl::insert(Transaction& transaction, Index& index, KeydromeBytes key,
                       KeydromeBytes payload) {
  auto& self = static_cast<Named&>(transaction);
  const ErrCode locked = lock_key(self, index, key, LockMode::kExclusive);
  if (locked != SUCCESS) return locked;
  for (;;) {
    Wanted blocked;
    const ErrCode code = insert_latched(self, index, key, payload, blocked);
    if (!blocked.name) return code;
    const ErrCode waited = wait(self, blocked);
    if (waited != SUCCESS) return waited;
  }
}

// One try, as `step`: when something is in the way, the answer counts for nothing.
ErrCode Gap2pl::insert_latched(Named& transaction, Index& index, KeydromeBytes key,
                               KeydromeBytes payload, Wanted& blocked) {
  const WriteLatch latch(content_of(index).latch);
  if (content_of(index).broken) return FAILURE;
  const Neighbor next(index, before_key(key));
  if (next.failed()) return FAILURE;
  if (!next.has_key(key)) {
    const LockView gap = mutant(23) ? LockView{} : view(transaction, next.gap());
    if (gap.others) {
      blocked.blocked_by(next.gap(), LockMode::kExclusive);
      return DEADLOCK;
    }
    const LockName lower = gap_name(index, key);
    if (gap.mine && !mutant(25) && !try_lock(transaction, lower, LockMode::kShared)) {
      blocked.blocked_by(lower, LockMode::kShared);
      return DEADLOCK;
    }
  }
  return change(transaction.undo, index, true, key, payload);
}

ErrCode Gap2pl::erase(Transaction& transaction, Index& index, KeydromeBytes key,
                      const KeydromeBytes* payload) {
  auto& self = static_cast<Named&>(transaction);
  const ErrCode locked = lock_key(self, index, key, LockMode::kExclusive);
  if (locked != SUCCESS) return locked;
  for (;;) {
    Wanted blocked;
    const ErrCode code = erase_latched(self, index, key, payload, blocked);
    if (!blocked.name) return code;
    const ErrCode waited = wait(self, blocked);
    if (waited != SUCCESS) return waited;
  }
}

// Deletes one payload, or all when `payload` is nullptr.
ErrCode Gap2pl::erase_latched(Named& transaction, Index& index, KeydromeBytes key,
                              const KeydromeBytes* payload, Wanted& blocked) {
  const WriteLatch latch(content_of(index).latch);
  if (content_of(index).broken) return FAILURE;
  const Neighbor first(index, before_key(key));
  if (first.failed()) return FAILURE;
  if (!first.has_key(key)) return payload == nullptr ? KEY_NOTFOUND : ENTRY_DNE;
  bool last = true;
  if (payload != nullptr) {
    last = equal(first.pair().payload(), *payload);
    const Neighbor second(index, {key, first.pair().payload(), true});
    if (second.failed()) return FAILURE;
    last = last && !second.has_key(key);
  }
  if (last && !mutant(24)) {
    const Neighbor next(index, after_key(key));
    if (next.failed()) return FAILURE;
    if (!lock_gap_before(transaction, next, blocked)) return DEADLOCK;
  }
  return payload == nullptr ? erase_payloads(transaction.undo, index, key)
                            : change(transaction.undo, index, false, key, *payload);
}

// Keeps everybody out of the gap that grows by a deletion.
bool Gap2pl::lock_gap_before(Named& transaction, const Neighbor& next, Wanted& blocked) {
  if (!next.is_end() && !try_lock(transaction, next.key(), LockMode::kShared)) {
    return blocked.blocked_by(next.key(), LockMode::kShared);
  }
  return try_lock(transaction, next.gap(), LockMode::kExclusive) ||
         blocked.blocked_by(next.gap(), LockMode::kExclusive);
}

ErrCode Gap2pl::erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                           KeydromeBytes payload) {
  return erase(transaction, index, key, &payload);
}

ErrCode Gap2pl::erase_key(Transaction& transaction, Index& index, KeydromeBytes key) {
  return erase(transaction, index, key, nullptr);
}

}  // namespace keydrome::runtime
