// What the controls that lock, change in place and undo have in common: strict two-phase locking
// with a LockManager. A subclass says what is locked.
#pragma once

#include <memory>

#include "runtime/control/content.h"
#include "runtime/control/control.h"
#include "runtime/control/lock_manager.h"
#include "runtime/control/pins.h"
#include "runtime/control/undo_log.h"

namespace keydrome::runtime {

class TwoPhase : public Control {
 public:
  ErrCode begin(Transaction& transaction) override;
  ErrCode commit(Transaction& transaction) override;
  ErrCode abort(Transaction& transaction) override;
  Json statistics() const override;

 protected:
  struct Locking : Transaction {
    explicit Locking(Waiter& waiter) : owner(waiter) {}
    LockOwner owner;
    UndoLog undo;
    Pins pins;
  };

  // The two transactions of a thread share its waiter: while the automatic one waits, the own one
  // cannot go on, and a lock of the own one that the automatic one asks for is a deadlock at once.
  template <class Kind>
  class SessionOf final : public ControlSession {
   public:
    Transaction& own() override { return own_; }
    Transaction& automatic() override { return automatic_; }

   private:
    Waiter waiter_;
    Kind own_{waiter_};
    Kind automatic_{waiter_};
  };

  // Waits for the lock: SUCCESS, or DEADLOCK with everything rolled back and the age kept.
  ErrCode acquire(Locking& transaction, Lock& lock, LockMode mode);
  // Called at the end, when the changes stand, with the locks still held.
  virtual void before_release(Locking&) {}
  // Called when the locks are free and the indexes still pinned.
  virtual void after_release(Locking&) {}

  LockManager locks_;

 private:
  void end(Locking& transaction);
};

}  // namespace keydrome::runtime
