#include "runtime/control/two_phase.h"

#include "runtime/control/mutant.h"

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
  transaction.pins.clear();
}

ErrCode TwoPhase::acquire(Locking& transaction, Lock& lock, LockMode mode) {
  const bool acquired = mutant(45) ? locks_.try_acquire(transaction.owner, lock, mode)
                                   : locks_.acquire(transaction.owner, lock, mode);
  if (acquired) return SUCCESS;
  undo_to(transaction.undo, 0);
  if (!mutant(28) && !mutant(45)) end(transaction);
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
