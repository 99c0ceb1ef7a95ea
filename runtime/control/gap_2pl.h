// Strict two-phase locking of keys and of the gaps between them.
//
// Two kinds of locks, both by name (lock_table.h): a key with all its payloads, whether it exists
// or not, and the gap before an existing key or behind the last one.
//
// - get locks its key shared; also when there is none, since whoever inserts it locks it
//   exclusively. The same holds for what a deletion or a second insertion did not find.
// - A step of getNext to another key locks that key and then the gap before it, both shared; DB_END
//   locks the gap at the end.
// - An insertion locks its key exclusively. When the key is new, nobody else may hold the gap that
//   it falls into; if the transaction itself holds that, it locks the lower half, which is now the
//   new key's, as well.
// - The deletion of a key's last payload locks the key exclusively, then the next key shared and
//   the gap before that, which grows, exclusively: until commit nobody may look into it.
//
// Invariant: who relies on the gap before a key also holds the key. So no other transaction can
// make that key appear or disappear, an abort included, and a gap never changes under a lock that
// protects it.
//
// The latch of the structure is held to look, to try locks, and to read or change under those
// locks; when a lock has to be waited for, the latch is freed and everything is looked at again.
#pragma once

#include <memory>

#include "runtime/control/lock_table.h"
#include "runtime/control/two_phase.h"

namespace keydrome::runtime {

class Gap2pl final : public TwoPhase {
 public:
  // How the structure is protected: kExclusive or kShared.
  explicit Gap2pl(LatchKind latch) : latch_(latch) {}

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
  struct Named;    // a transaction with the names of its locks
  class Neighbor;  // the key after another one
  struct Wanted;   // a lock that is to be waited for

  template <class Acquire>
  auto with_lock(Named& transaction, const LockName& name, Acquire&& acquire);
  bool try_lock(Named& transaction, const LockName& name, LockMode mode);
  ErrCode wait(Named& transaction, const Wanted& wanted);
  ErrCode lock_key(Named& transaction, Index& index, KeydromeBytes key, LockMode mode);
  LockView view(const Named& transaction, const LockName& name);

  ErrCode step(Named& transaction, Index& index, Cursor& cursor, Wanted& blocked);
  ErrCode insert_latched(Named& transaction, Index& index, KeydromeBytes key, KeydromeBytes payload,
                         Wanted& blocked);
  ErrCode erase_latched(Named& transaction, Index& index, KeydromeBytes key,
                        const KeydromeBytes* payload, Wanted& blocked);
  bool lock_gap_before(Named& transaction, const Neighbor& next, Wanted& blocked);
  ErrCode erase(Transaction& transaction, Index& index, KeydromeBytes key,
                const KeydromeBytes* payload);

  void release_early(Named& transaction);
  void after_release(Locking& transaction) override;

  const LatchKind latch_;
  LockTable table_;
};

}  // namespace keydrome::runtime
