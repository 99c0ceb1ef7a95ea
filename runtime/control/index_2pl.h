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

#include "runtime/control/two_phase.h"

namespace keydrome::runtime {

enum class ReadLock { kExclusive, kShared };

class Index2pl final : public TwoPhase {
 public:
  explicit Index2pl(ReadLock read_lock)
      : read_mode_(read_lock == ReadLock::kShared ? LockMode::kShared : LockMode::kExclusive) {}

  std::unique_ptr<IndexControl> make_index_control() override;
  std::unique_ptr<ControlSession> make_session() override;

  ErrCode get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) override;
  ErrCode get_next(Transaction& transaction, Index& index, Cursor& cursor) override;
  ErrCode insert(Transaction& transaction, Index& index, KeydromeBytes key,
                 KeydromeBytes payload) override;
  ErrCode erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                     KeydromeBytes payload) override;
  ErrCode erase_key(Transaction& transaction, Index& index, KeydromeBytes key) override;

 private:
  struct Locked;  // an index's IndexControl

  ErrCode lock(Locking& transaction, Index& index, LockMode mode);

  const LockMode read_mode_;
};

}  // namespace keydrome::runtime
