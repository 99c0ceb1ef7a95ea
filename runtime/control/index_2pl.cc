#include "runtime/control/index_2pl.h"

#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "runtime/control/undo_log.h"
#include "runtime/index.h"

namespace keydrome::runtime {

// `changes` and `broken` belong to whoever holds the lock: exclusively to write, shared to read.
struct Index2pl::Locked final : IndexControl {
  Lock lock;
  uint64_t changes = 0;  // puts and deletions so far
  bool broken =
      false;  // an undo failed for want of memory: the content is not to be trusted any more
};

class Index2pl::OneTransaction final : public Transaction {
 public:
  explicit OneTransaction(Waiter& waiter) : owner(waiter) {}

  LockOwner owner;
  UndoLog undo;
  std::vector<Index*> pinned;  // parallel to the locks held
};

class Index2pl::Session final : public ControlSession {
 public:
  Transaction& own() override { return own_; }
  Transaction& automatic() override { return automatic_; }

 private:
  // Shared by both: while the automatic transaction waits, the own one cannot go on, and a lock of
  // the own one that the automatic one asks for is a deadlock at once.
  Waiter waiter_;
  OneTransaction own_{waiter_};
  OneTransaction automatic_{waiter_};
};

namespace {

constexpr KeydromeBytes kSmallest{nullptr, 0};
constexpr KeydromeBytes kLargest{nullptr, 0};

bool equal(KeydromeBytes a, KeydromeBytes b) {
  return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0);
}

// Moves to the next pair and copies it into the cursor: what `next` of the structure answers, or -1
// when that makes no sense. The cursor's place is the caller's affair.
int read_next(const Store& store, KeydromePosition& position, Cursor& cursor) {
  KeydromeBuffer key{cursor.key, 0, sizeof cursor.key};
  KeydromeBuffer payload{cursor.payload, 0, sizeof cursor.payload};
  const int found = store.next(position, key, payload);
  if (found <= 0) return found;
  if (key.size > sizeof cursor.key || payload.size > sizeof cursor.payload) return -1;
  cursor.key_size = key.size;
  cursor.payload_size = payload.size;
  return 1;
}

int seek_place(const Store& store, KeydromePosition& position, const Cursor& cursor) {
  switch (cursor.place) {
    case Cursor::Place::kStart:
      return store.seek(position, {"", 0}, kSmallest, false);
    case Cursor::Place::kAfterPair:
      return store.seek(position, cursor.key_bytes(), cursor.payload_bytes(), true);
    case Cursor::Place::kAfterKey:
      return store.seek(position, cursor.key_bytes(), kLargest, true);
  }
  return -1;
}

}  // namespace

std::unique_ptr<IndexControl> Index2pl::make_index_control() { return std::make_unique<Locked>(); }

std::unique_ptr<ControlSession> Index2pl::make_session() { return std::make_unique<Session>(); }

ErrCode Index2pl::begin(Transaction&) { return SUCCESS; }

ErrCode Index2pl::commit(Transaction& transaction) {
  auto& self = static_cast<OneTransaction&>(transaction);
  end(self);
  self.owner.forget_age();
  return SUCCESS;
}

ErrCode Index2pl::abort(Transaction& transaction) {
  auto& self = static_cast<OneTransaction&>(transaction);
  const bool undone = undo_to(self, 0);
  end(self);
  self.owner.forget_age();
  return undone ? SUCCESS : FAILURE;
}

void Index2pl::end(OneTransaction& transaction) {
  transaction.undo.clear();
  locks_.release_all(transaction.owner);
  for (Index* index : transaction.pinned) index->unpin();
  transaction.pinned.clear();
}

// SUCCESS, or DEADLOCK with everything rolled back and the age kept, or FAILURE for an index that
// is broken.
ErrCode Index2pl::lock(OneTransaction& transaction, Index& index, LockMode mode) {
  auto& locked = static_cast<Locked&>(index.control());
  if (transaction.pinned.size() == transaction.pinned.capacity()) {
    transaction.pinned.reserve(2 * transaction.pinned.size() + 1);
  }
  if (!locks_.acquire(transaction.owner, locked.lock, mode)) {
    undo_to(transaction, 0);
    end(transaction);
    return DEADLOCK;
  }
  if (transaction.owner.held() > transaction.pinned.size()) {
    index.pin();
    transaction.pinned.push_back(&index);
  }
  return locked.broken ? FAILURE : SUCCESS;
}

ErrCode Index2pl::get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) {
  const ErrCode locked = lock(static_cast<OneTransaction&>(transaction), index, read_mode_);
  if (locked != SUCCESS) return locked;
  const Store& store = index.store();
  cursor.has_position = false;
  if (store.seek(cursor.position, key, kSmallest, false) < 0) return FAILURE;
  KeydromePosition after = cursor.position;
  const int found = read_next(store, after, cursor);
  if (found < 0) return FAILURE;
  cursor.has_position = true;
  cursor.changes = static_cast<Locked&>(index.control()).changes;
  if (found == 1 && equal(cursor.key_bytes(), key)) {
    cursor.place = Cursor::Place::kAfterPair;
    cursor.position = after;
    return SUCCESS;
  }
  cursor.place = Cursor::Place::kAfterKey;
  cursor.set_key(key);
  return KEY_NOTFOUND;
}

ErrCode Index2pl::get_next(Transaction& transaction, Index& index, Cursor& cursor) {
  const ErrCode locked = lock(static_cast<OneTransaction&>(transaction), index, read_mode_);
  if (locked != SUCCESS) return locked;
  const Store& store = index.store();
  const uint64_t changes = static_cast<Locked&>(index.control()).changes;
  if (!cursor.has_position || cursor.changes != changes) {
    cursor.has_position = false;
    if (seek_place(store, cursor.position, cursor) < 0) return FAILURE;
    cursor.has_position = true;
    cursor.changes = changes;
  }
  const int found = read_next(store, cursor.position, cursor);
  if (found == 0) return DB_END;
  if (found < 0) {
    cursor.has_position = false;
    return FAILURE;
  }
  cursor.place = Cursor::Place::kAfterPair;
  return SUCCESS;
}

// One put or deletion with its undo record: SUCCESS, ENTRY_EXISTS, ENTRY_DNE, or FAILURE without
// memory.
ErrCode Index2pl::change(OneTransaction& transaction, Index& index, bool insertion,
                         KeydromeBytes key, KeydromeBytes payload) {
  try {
    transaction.undo.reserve(key, payload);
  } catch (const std::bad_alloc&) {
    return FAILURE;
  }
  const int changed = insertion ? index.store().put(key, payload) : index.store().del(key, payload);
  if (changed < 0) return FAILURE;
  if (changed == 0) return insertion ? ENTRY_EXISTS : ENTRY_DNE;
  ++static_cast<Locked&>(index.control()).changes;
  transaction.undo.append({&index, insertion, key, payload});
  return SUCCESS;
}

// Takes back all changes beyond the mark, newest first. False when memory was missing; the index is
// broken then.
bool Index2pl::undo_to(OneTransaction& transaction, size_t mark) {
  bool complete = true;
  UndoLog& undo = transaction.undo;
  for (; !undo.empty_beyond(mark); undo.drop_newest()) {
    const Change change = undo.newest();
    Store& store = change.index->store();
    auto& locked = static_cast<Locked&>(change.index->control());
    ++locked.changes;
    const int undone = change.inserted ? store.del(change.key, change.payload)
                                       : store.put(change.key, change.payload);
    if (undone == 1 || locked.broken) continue;
    std::fprintf(stderr,
                 "keydrome runtime: index %s: a change could not be undone for want of memory; the "
                 "index answers FAILURE from now on. Give the run more memory.\n",
                 change.index->name().c_str());
    locked.broken = true;
    complete = false;
  }
  return complete;
}

ErrCode Index2pl::insert(Transaction& transaction, Index& index, KeydromeBytes key,
                         KeydromeBytes payload) {
  auto& self = static_cast<OneTransaction&>(transaction);
  const ErrCode locked = lock(self, index, LockMode::kExclusive);
  return locked == SUCCESS ? change(self, index, true, key, payload) : locked;
}

ErrCode Index2pl::erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                             KeydromeBytes payload) {
  auto& self = static_cast<OneTransaction&>(transaction);
  const ErrCode locked = lock(self, index, LockMode::kExclusive);
  return locked == SUCCESS ? change(self, index, false, key, payload) : locked;
}

// All payloads go, or none.
ErrCode Index2pl::erase_key(Transaction& transaction, Index& index, KeydromeBytes key) {
  auto& self = static_cast<OneTransaction&>(transaction);
  const ErrCode locked = lock(self, index, LockMode::kExclusive);
  if (locked != SUCCESS) return locked;
  const size_t mark = self.undo.mark();
  const Store& store = index.store();
  Cursor victim;
  for (;;) {
    KeydromePosition position;
    int found = store.seek(position, key, kSmallest, false);
    if (found >= 0) found = read_next(store, position, victim);
    if (found == 0 || (found == 1 && !equal(victim.key_bytes(), key))) break;
    if (found < 0 ||
        change(self, index, false, victim.key_bytes(), victim.payload_bytes()) != SUCCESS) {
      undo_to(self, mark);
      return FAILURE;
    }
  }
  return self.undo.empty_beyond(mark) ? KEY_NOTFOUND : SUCCESS;
}

Json Index2pl::statistics() const {
  const LockStatistics counted = locks_.statistics();
  Json json;
  json["lock_waits"] = counted.waits;
  json["deadlocks"] = counted.deadlocks;
  return json;
}

}  // namespace keydrome::runtime
