// Implements TwoPhase, the base class for two-phase locking: commit, abort, and the rollback of a
// transaction that is the victim of a deadlock.
#include "runtime/concurrency/families/two_phase.h"

namespace keydrome::runtime {

ErrCode TwoPhase::begin(Transaction&) { return SUCCESS; }

ErrCode TwoPhase::commit(Transaction& transaction) {
  auto& self = static_cast<Locking&>(transaction);
  end(self);
  self.owner.forget_age();
  return SUCCESS;
}

ErrCode TwoPhase::abort(Transaction& transaction) {
  auto& self = static_cast<Locking&>(transaction);
  const bool undone = undo_to(self.undo, 0);
  end(self);
  self.owner.forget_age();
  return undone ? SUCCESS : FAILURE;
}

void TwoPhase::end(Locking& transaction) {
  before_release(transaction);
  transaction.undo.clear();
  locks_.release_all(transaction.owner);
  after_release(transaction);
}

ErrCode TwoPhase::acquire(Locking& transaction, Lock& lock, LockMode mode) {
  if (locks_.acquire(transaction.owner, lock, mode)) return SUCCESS;
  undo_to(transaction.undo, 0);
  end(transaction);
  return DEADLOCK;
}

Json TwoPhase::statistics() const {
  const LockStatistics counted = locks_.statistics();
  Json json;
  json["locks"] = counted.locks;
  json["lock_waits"] = counted.waits;
  json["lock_waiting"] = counted.waiting;
  json["deadlocks"] = counted.deadlocks;
  return json;
}

}  // namespace keydrome::runtime
