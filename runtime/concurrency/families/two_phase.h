// TwoPhase: the base class of the concurrency controls that use strict two-phase locking.
//
// A transaction takes locks from a LockManager, changes the data in place, and keeps an undo log.
// It releases all locks when it ends. A subclass decides what a lock covers, such as a key or an
// index.
#pragma once

#include <memory>

#include "runtime/concurrency/concurrency.h"
#include "runtime/content/content.h"
#include "runtime/content/undo_log.h"
#include "runtime/locks/lock_manager.h"

namespace keydrome::runtime {

class TwoPhase : public Concurrency {
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
  };

  // The two transactions of a thread share one Waiter, because only one of them can wait at a time.
  // While the automatic transaction (that of an auto-commit call) waits, the thread's own
  // transaction makes no progress. If the automatic transaction requests a lock that the thread's
  // own transaction holds, this is a deadlock, and the lock manager detects it at once.
  template <class Kind>
  class ClientOf final : public ClientConcurrency {
   public:
    Transaction& own() override { return own_; }
    Transaction& automatic() override { return automatic_; }

   private:
    Waiter waiter_;
    Kind own_{waiter_};
    Kind automatic_{waiter_};
  };

  // Waits for the lock. Returns SUCCESS, or DEADLOCK after it has rolled the transaction back.
  // After DEADLOCK the transaction keeps its age. The lock manager chooses the youngest transaction
  // as the victim, so a transaction that is repeated often enough becomes the oldest and succeeds.
  ErrCode acquire(Locking& transaction, Lock& lock, LockMode mode);
  // Returns the mode in which a read locks its key or index, where `usual` is the mode of a first
  // attempt. After a deadlock the thread usually repeats the transaction. The repetition locks its
  // reads exclusively. Otherwise two transactions that read and then change the same records would
  // often share the locks of their reads again, and deadlock again.
  static LockMode read_mode(const Locking& transaction, LockMode usual) {
    return transaction.owner.was_victim() ? LockMode::kExclusive : usual;
  }
  // Called at the end of a transaction, when its changes are final or undone. The transaction still
  // holds its locks.
  virtual void before_release(Locking&) {}
  // Called after the locks have been released.
  virtual void after_release(Locking&) {}

  LockManager locks_;

 private:
  void end(Locking& transaction);
};

}  // namespace keydrome::runtime
