// Implements the concurrency control "gap_2pl": strict two-phase locking of keys and of the gaps
// between keys.
//
// There are two kinds of locks, which the lock table finds by name (locks/lock_table.h). A key lock
// covers one key with all its payloads; the key need not exist. A gap lock covers the open interval
// before an existing key, or the interval after the last key.
//
// - `get` locks its key shared, even if the key does not exist, because a transaction that inserts
//   the key must lock it exclusively. After a deadlock, `get` locks exclusively (two_phase.h). A
//   deletion that finds nothing, and an insertion of an existing pair, also keep the lock of their
//   key, so that their results stay right until the commit.
// - A step of `getNext` to another key locks this key shared, then the gap before it shared. A step
//   to DB_END locks the gap after the last key shared.
// - An insertion locks its key exclusively. If the key is new, it divides a gap, and the insertion
//   waits until no other transaction holds a lock on that gap. If the inserting transaction holds a
//   lock on that gap itself, it also locks the new gap before its key.
// - The deletion of a key's last payload locks the key exclusively, then the next key shared, then
//   the gap before the next key exclusively. If there is no next key, it locks only its key and the
//   gap after the last key. The deletion makes this gap larger, and no other transaction may read
//   or insert in it until the commit.
//
// Invariant: a transaction that has locked the gap before a key has also locked the key. No other
// transaction can therefore insert or remove this key, not even by an abort. So no other
// transaction can change the limits of a locked gap.
//
// A latch protects an index's data structure during one operation. A thread holds the latch while
// it searches, tries to lock, and reads or changes under these locks. If a lock is not free, the
// thread releases the latch, waits for the lock, and repeats the operation from the start.
#include <memory>
#include <optional>
#include <vector>

#include "runtime/concurrency/families/two_phase.h"
#include "runtime/concurrency/methods.h"
#include "runtime/locks/lock_table.h"

namespace keydrome::runtime {

namespace {

class Gap2pl final : public TwoPhase {
 public:
  // `latch`: how reads latch the structure, kExclusive or kShared.
  explicit Gap2pl(LatchKind latch) : latch_(latch) {}

  std::unique_ptr<IndexConcurrency> make_index_concurrency() override;
  std::unique_ptr<ClientConcurrency> make_client() override;

  ErrCode get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) override;
  ErrCode get_next(Transaction& transaction, Index& index, Cursor& cursor) override;
  ErrCode insert(Transaction& transaction, Index& index, KeydromeBytes key,
                 KeydromeBytes payload) override;
  ErrCode erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                     KeydromeBytes payload) override;
  ErrCode erase_key(Transaction& transaction, Index& index, KeydromeBytes key) override;

 private:
  struct LockingTransaction;  // a transaction with its entries in the lock table
  class SuccessorKey;         // the first key at or after a bound
  struct BlockedBy;           // the lock that an attempt could not take

  template <class Acquire>
  auto with_lock(LockingTransaction& transaction, const LockName& name, Acquire&& acquire);
  bool try_lock(LockingTransaction& transaction, const LockName& name, LockMode mode);
  ErrCode wait(LockingTransaction& transaction, const BlockedBy& wanted);
  ErrCode lock_key(LockingTransaction& transaction, Index& index, KeydromeBytes key, LockMode mode);
  LockView view(const LockingTransaction& transaction, const LockName& name);

  ErrCode step(LockingTransaction& transaction, Index& index, Cursor& cursor, BlockedBy& blocked);
  ErrCode insert_latched(LockingTransaction& transaction, Index& index, KeydromeBytes key,
                         KeydromeBytes payload, BlockedBy& blocked);
  ErrCode erase_latched(LockingTransaction& transaction, Index& index, KeydromeBytes key,
                        const KeydromeBytes* payload, BlockedBy& blocked);
  bool lock_gap_before(LockingTransaction& transaction, const SuccessorKey& next,
                       BlockedBy& blocked);
  ErrCode erase(Transaction& transaction, Index& index, KeydromeBytes key,
                const KeydromeBytes* payload);

  void after_release(Locking& transaction) override;

  const LatchKind latch_;
  LockTable table_;
};

}  // namespace

namespace {

using Kind = LockName::Kind;

LockName key_name(const Index& index, KeydromeBytes key) { return {index, Kind::kKey, key}; }
LockName gap_name(const Index& index, KeydromeBytes key) { return {index, Kind::kGap, key}; }

}  // namespace

struct Gap2pl::LockingTransaction final : Locking {
  explicit LockingTransaction(Waiter& waiter) : Locking(waiter) {}
  std::vector<LockTable::Entry*> entries;  // one entry for each lock that the transaction holds
};

struct Gap2pl::BlockedBy {
  std::optional<LockName> name;  // empty if all locks were free
  LockMode mode = LockMode::kShared;

  // Stores the lock that is not free. Always returns false, so that callers can write
  // `return try_lock(...) || blocked.blocked_by(...)`.
  bool blocked_by(const LockName& blocking, LockMode wanted) {
    name = blocking;
    mode = wanted;
    return false;
  }
};

// The first key at or after a bound, or the end of the index, and the names of its locks.
class Gap2pl::SuccessorKey {
 public:
  SuccessorKey(const Index& index, const Bound& bound)
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

std::unique_ptr<IndexConcurrency> Gap2pl::make_index_concurrency() {
  return std::make_unique<Content>(latch_);
}

std::unique_ptr<ClientConcurrency> Gap2pl::make_client() {
  return std::make_unique<ClientOf<LockingTransaction>>();
}

// Finds the lock of this name and calls `acquire(lock)`. If `acquire` takes the lock, the lock's
// entry stays in the table until the lock is released.
template <class Acquire>
auto Gap2pl::with_lock(LockingTransaction& transaction, const LockName& name, Acquire&& acquire) {
  std::vector<LockTable::Entry*>& entries = transaction.entries;
  if (entries.size() == entries.capacity()) entries.reserve(2 * entries.size() + 1);
  LockTable::Lease lease = table_.take(name);
  const size_t held = transaction.owner.held();
  const auto result = acquire(lease.entry().lock);
  if (transaction.owner.held() > held) entries.push_back(&lease.keep());
  return result;
}

bool Gap2pl::try_lock(LockingTransaction& transaction, const LockName& name, LockMode mode) {
  return with_lock(transaction, name,
                   [&](Lock& lock) { return locks_.try_acquire(transaction.owner, lock, mode); });
}

// Waits for the lock that blocked an attempt. Returns SUCCESS or DEADLOCK.
ErrCode Gap2pl::wait(LockingTransaction& transaction, const BlockedBy& wanted) {
  return with_lock(transaction, *wanted.name,
                   [&](Lock& lock) { return acquire(transaction, lock, wanted.mode); });
}

ErrCode Gap2pl::lock_key(LockingTransaction& transaction, Index& index, KeydromeBytes key,
                         LockMode mode) {
  const LockName name = key_name(index, key);
  if (try_lock(transaction, name, mode)) return SUCCESS;
  return wait(transaction, {name, mode});
}

LockView Gap2pl::view(const LockingTransaction& transaction, const LockName& name) {
  const std::optional<LockTable::Lease> lease = table_.take_if_there(name);
  return lease ? locks_.view(transaction.owner, lease->entry().lock) : LockView{false, false};
}

void Gap2pl::after_release(Locking& transaction) {
  auto& self = static_cast<LockingTransaction&>(transaction);
  for (LockTable::Entry* entry : self.entries) table_.give_back(*entry);
  self.entries.clear();
}

ErrCode Gap2pl::get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) {
  auto& self = static_cast<LockingTransaction&>(transaction);
  const ErrCode locked = lock_key(self, index, key, read_mode(self, LockMode::kShared));
  if (locked != SUCCESS) return locked;
  const ReadLatch latch(content_of(index).latch);
  return read_key(index, cursor, key);
}

ErrCode Gap2pl::get_next(Transaction& transaction, Index& index, Cursor& cursor) {
  auto& self = static_cast<LockingTransaction&>(transaction);
  for (;;) {
    BlockedBy blocked;
    const ErrCode code = step(self, index, cursor, blocked);
    if (!blocked.name) return code;
    const ErrCode waited = wait(self, blocked);
    if (waited != SUCCESS) return waited;
  }
}

// Attempts to read the next pair. If a lock is not free, sets `blocked`, does not move the cursor,
// and returns a value that the caller must ignore.
ErrCode Gap2pl::step(LockingTransaction& transaction, Index& index, Cursor& cursor,
                     BlockedBy& blocked) {
  const ReadLatch latch(content_of(index).latch);
  const Store& store = index.store();
  if (content_of(index).broken) return FAILURE;
  KeydromeBytes key, payload;
  const int found = peek(content_of(index), store, cursor, key, payload);
  if (found < 0) return FAILURE;
  const auto lock = [&](const LockName& name) {
    return try_lock(transaction, name, LockMode::kShared) ||
           blocked.blocked_by(name, LockMode::kShared);
  };
  if (found == 0) {
    lock({index, Kind::kEnd, {nullptr, 0}});  // sets `blocked` if the lock is not free
    return DB_END;
  }
  // If the pair has the same key as the cursor, the transaction has locked this key already.
  const bool same_key = cursor.place == Cursor::Place::kAfterPair && equal(key, cursor.key_bytes());
  if (same_key || (lock(key_name(index, key)) && lock(gap_name(index, key)))) {
    advance(cursor, key, payload);
  }
  return SUCCESS;
}

ErrCode Gap2pl::insert(Transaction& transaction, Index& index, KeydromeBytes key,
                       KeydromeBytes payload) {
  auto& self = static_cast<LockingTransaction&>(transaction);
  const ErrCode locked = lock_key(self, index, key, LockMode::kExclusive);
  if (locked != SUCCESS) return locked;
  for (;;) {
    BlockedBy blocked;
    const ErrCode code = insert_latched(self, index, key, payload, blocked);
    if (!blocked.name) return code;
    const ErrCode waited = wait(self, blocked);
    if (waited != SUCCESS) return waited;
  }
}

// Attempts to insert the pair. If a lock is not free, sets `blocked` and returns a value that the
// caller must ignore.
ErrCode Gap2pl::insert_latched(LockingTransaction& transaction, Index& index, KeydromeBytes key,
                               KeydromeBytes payload, BlockedBy& blocked) {
  const WriteLatch latch(content_of(index).latch);
  if (content_of(index).broken) return FAILURE;
  const SuccessorKey next(index, before_key(key));
  if (next.failed()) return FAILURE;
  if (!next.has_key(key)) {
    const LockView gap = view(transaction, next.gap());
    if (gap.others) {
      blocked.blocked_by(next.gap(), LockMode::kExclusive);
      return DEADLOCK;
    }
    const LockName lower = gap_name(index, key);
    if (gap.mine && !try_lock(transaction, lower, LockMode::kShared)) {
      blocked.blocked_by(lower, LockMode::kShared);
      return DEADLOCK;
    }
  }
  return change(transaction.undo, index, true, key, payload);
}

ErrCode Gap2pl::erase(Transaction& transaction, Index& index, KeydromeBytes key,
                      const KeydromeBytes* payload) {
  auto& self = static_cast<LockingTransaction&>(transaction);
  const ErrCode locked = lock_key(self, index, key, LockMode::kExclusive);
  if (locked != SUCCESS) return locked;
  for (;;) {
    BlockedBy blocked;
    const ErrCode code = erase_latched(self, index, key, payload, blocked);
    if (!blocked.name) return code;
    const ErrCode waited = wait(self, blocked);
    if (waited != SUCCESS) return waited;
  }
}

// Attempts to delete one payload of the key, or all payloads if `payload` is nullptr. If a lock is
// not free, sets `blocked` and returns a value that the caller must ignore.
ErrCode Gap2pl::erase_latched(LockingTransaction& transaction, Index& index, KeydromeBytes key,
                              const KeydromeBytes* payload, BlockedBy& blocked) {
  const WriteLatch latch(content_of(index).latch);
  if (content_of(index).broken) return FAILURE;
  const SuccessorKey first(index, before_key(key));
  if (first.failed()) return FAILURE;
  if (!first.has_key(key)) return payload == nullptr ? KEY_NOTFOUND : ENTRY_DNE;
  bool last = true;
  if (payload != nullptr) {
    last = equal(first.pair().payload(), *payload);
    const SuccessorKey second(index, {key, first.pair().payload(), true});
    if (second.failed()) return FAILURE;
    last = last && !second.has_key(key);
  }
  if (last) {
    const SuccessorKey next(index, after_key(key));
    if (next.failed()) return FAILURE;
    if (!lock_gap_before(transaction, next, blocked)) return DEADLOCK;
  }
  return payload == nullptr ? erase_payloads(transaction.undo, index, key)
                            : change(transaction.undo, index, false, key, *payload);
}

// Locks the gap that a deletion makes larger (the gap before `next`), so that no other transaction
// reads or inserts in it. Returns false and sets `blocked` if a lock is not free.
bool Gap2pl::lock_gap_before(LockingTransaction& transaction, const SuccessorKey& next,
                             BlockedBy& blocked) {
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

ConcurrencyMethod gap_2pl_method() {
  return {"gap_2pl", true, true, false,
          [](const ConcurrencyOptions& options) -> std::unique_ptr<Concurrency> {
            return std::make_unique<Gap2pl>(options.latch);
          }};
}

}  // namespace keydrome::runtime
