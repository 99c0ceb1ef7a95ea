// Strict two-phase locking with one lock an index.
//
// Phantoms cannot happen: whoever reads an index keeps everybody else from changing it until the
// transaction ends. So it is also strictly serialisable. Changes are made in place, with an undo
// log.
//
// Under ReadLock::kExclusive every access takes the lock exclusively: nothing runs in parallel on
// one index, and a deadlock needs two indexes. Under kShared reads share it; a transaction that
// reads and then writes upgrades, which can deadlock with another that does the same on one index.
#pragma once

#include <memory>

#include "runtime/control/control.h"
#include "runtime/control/lock_manager.h"

namespace keydrome::runtime {

enum class ReadLock { kExclusive, kShared };

class Index2pl final : public Control {
 public:
  explicit Index2pl(ReadLock read_lock)
      : read_mode_(read_lock == ReadLock::kShared ? LockMode::kShared : LockMode::kExclusive) {}

  std::unique_ptr<IndexControl> make_index_control() override;
  std::unique_ptr<ControlSession> make_session() override;

  ErrCode begin(Transaction& transaction) override;
  ErrCode commit(Transaction& transaction) override;
  ErrCode abort(Transaction& transaction) override;

  ErrCode get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) override;
  ErrCode get_next(Transaction& transaction, Index& index, Cursor& cursor) override;
  ErrCode insert(Transaction& transaction, Index& index, KeydromeBytes key,
                 KeydromeBytes payload) override;
  ErrCode erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                     KeydromeBytes payload) override;
  ErrCode erase_key(Transaction& transaction, Index& index, KeydromeBytes key) override;

  Json statistics() const override;

 private:
  struct Locked;  // an index's IndexControl
  class OneTransaction;
  class Session;

  ErrCode lock(OneTransaction& transaction, Index& index, LockMode mode);
  static ErrCode change(OneTransaction& transaction, Index& index, bool insertion,
                        KeydromeBytes key, KeydromeBytes payload);
  static bool undo_to(OneTransaction& transaction, size_t mark);
  void end(OneTransaction& transaction);

  const LockMode read_mode_;
  LockManager locks_;
};

}  // namespace keydrome::runtime
