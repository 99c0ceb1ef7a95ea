#include "runtime/control/index_2pl.h"

namespace keydrome::runtime {

// The latch is none: the content belongs to whoever holds the lock, exclusively to write, shared to
// read.
struct Index2pl::Locked final : Content {
  Locked() : Content(LatchKind::kNone) {}
  Lock lock;
};

std::unique_ptr<IndexControl> Index2pl::make_index_control() { return std::make_unique<Locked>(); }

std::unique_ptr<ControlSession> Index2pl::make_session() {
  return std::make_unique<SessionOf<Locking>>();
}

// SUCCESS, DEADLOCK, or FAILURE for an index that is broken.
ErrCode Index2pl::lock(Locking& transaction, Index& index, LockMode mode) {
  auto& locked = static_cast<Locked&>(index.control());
  transaction.pins.add(index);
  const ErrCode granted = acquire(transaction, locked.lock, mode);
  if (granted != SUCCESS) return granted;
  return locked.broken ? FAILURE : SUCCESS;
}

ErrCode Index2pl::get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) {
  const ErrCode locked = lock(static_cast<Locking&>(transaction), index, read_mode_);
  return locked == SUCCESS ? read_key(index, cursor, key) : locked;
}

ErrCode Index2pl::get_next(Transaction& transaction, Index& index, Cursor& cursor) {
  const ErrCode locked = lock(static_cast<Locking&>(transaction), index, read_mode_);
  if (locked != SUCCESS) return locked;
  const Store& store = index.store();
  if (refresh(content_of(index), store, cursor) < 0) return FAILURE;
  Pair pair;
  const int found = read_next(store, cursor.position, pair);
  if (found == 0) return DB_END;
  if (found < 0) {
    cursor.has_position = false;
    return FAILURE;
  }
  place_on(cursor, pair);
  return SUCCESS;
}

ErrCode Index2pl::insert(Transaction& transaction, Index& index, KeydromeBytes key,
                         KeydromeBytes payload) {
  auto& self = static_cast<Locking&>(transaction);
  const ErrCode locked = lock(self, index, LockMode::kExclusive);
  return locked == SUCCESS ? change(self.undo, index, true, key, payload) : locked;
}

ErrCode Index2pl::erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                             KeydromeBytes payload) {
  auto& self = static_cast<Locking&>(transaction);
  const ErrCode locked = lock(self, index, LockMode::kExclusive);
  return locked == SUCCESS ? change(self.undo, index, false, key, payload) : locked;
}

ErrCode Index2pl::erase_key(Transaction& transaction, Index& index, KeydromeBytes key) {
  auto& self = static_cast<Locking&>(transaction);
  const ErrCode locked = lock(self, index, LockMode::kExclusive);
  return locked == SUCCESS ? erase_payloads(self.undo, index, key) : locked;
}

}  // namespace keydrome::runtime
