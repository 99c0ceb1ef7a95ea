// Implements the concurrency control "index_2pl": strict two-phase locking
// with one lock per index. Changes are made in place, with an undo log.
//
// While a transaction that has read an index is open, no other transaction can change this index.
// Phantoms therefore cannot happen, and the results are strictly serialisable.
//
// A read takes the lock either exclusively or shared, as the configuration says. With exclusive
// reads, only one transaction at a time uses an index, and a deadlock needs two indexes. With
// shared reads, several transactions may read one index at once. A transaction that reads and then
// writes upgrades its lock to exclusive. If two transactions share a lock and both upgrade it, they
// deadlock. The victim's next transaction therefore locks its reads exclusively (two_phase.h).
#include <memory>

#include "runtime/concurrency/families/two_phase.h"
#include "runtime/concurrency/methods.h"

namespace keydrome::runtime {

namespace {

class Index2pl final : public TwoPhase {
 public:
  // `read_mode`: how a read locks its index.
  explicit Index2pl(LockMode read_mode) : read_mode_(read_mode) {}

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
  struct Locked;  // an index's IndexConcurrency

  ErrCode lock(Locking& transaction, Index& index, LockMode mode);

  const LockMode read_mode_;
};

}  // namespace

// The index needs no latch (a lock during one operation). The transaction's lock protects the
// content already: a writer holds it exclusively, a reader holds it shared or exclusively.
struct Index2pl::Locked final : Content {
  Locked() : Content(LatchKind::kNone) {}
  Lock lock;
};

std::unique_ptr<IndexConcurrency> Index2pl::make_index_concurrency() {
  return std::make_unique<Locked>();
}

std::unique_ptr<ClientConcurrency> Index2pl::make_client() {
  return std::make_unique<ClientOf<Locking>>();
}

// Returns SUCCESS, DEADLOCK, or FAILURE if the index is broken (if memory ran out during an undo).
ErrCode Index2pl::lock(Locking& transaction, Index& index, LockMode mode) {
  auto& locked = static_cast<Locked&>(index.concurrency());
  const ErrCode granted = acquire(transaction, locked.lock, mode);
  if (granted != SUCCESS) return granted;
  return locked.broken ? FAILURE : SUCCESS;
}

ErrCode Index2pl::get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) {
  auto& self = static_cast<Locking&>(transaction);
  const ErrCode locked = lock(self, index, read_mode(self, read_mode_));
  return locked == SUCCESS ? read_key(index, cursor, key) : locked;
}

ErrCode Index2pl::get_next(Transaction& transaction, Index& index, Cursor& cursor) {
  auto& self = static_cast<Locking&>(transaction);
  const ErrCode locked = lock(self, index, read_mode(self, read_mode_));
  if (locked != SUCCESS) return locked;
  KeydromeBytes key, payload;
  const int found = peek(content_of(index), index.store(), cursor, key, payload);
  if (found == 0) return DB_END;
  if (found < 0) return FAILURE;
  advance(cursor, key, payload);
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

ConcurrencyMethod index_2pl_method() {
  return {"index_2pl", true, false, false,
          [](const ConcurrencyOptions& options) -> std::unique_ptr<Concurrency> {
            return std::make_unique<Index2pl>(
                options.latch == LatchKind::kShared ? LockMode::kShared : LockMode::kExclusive);
          }};
}

}  // namespace keydrome::runtime
