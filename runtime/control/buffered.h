// What the controls that buffer their writes have in common: optimistic concurrency control.
//
// Reads take no lock, only the latch of the structure for the length of one operation, and note
// what they saw (read_log.h). Writes stay in the transaction's overlay, merged into its own reads,
// and nobody else sees them. Commit validates: inside a short critical section the reads are
// repeated on what is committed now; when they answer the same, the writes are installed, else the
// transaction answers DEADLOCK. So a transaction with writes is as if it had run at one instant
// within its commit: strictly serialisable, and free of phantoms because a repeated read covers a
// range, not only the records in it.
//
// Subclasses say which committed state a transaction reads and what a read-only one has to do at
// its end. Whenever one transaction fails, another one has committed since it began.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/control/content.h"
#include "runtime/control/control.h"
#include "runtime/control/latch.h"
#include "runtime/control/overlay.h"
#include "runtime/control/pins.h"
#include "runtime/control/read_log.h"

namespace keydrome::runtime {

class Buffered : public Control {
 public:
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

 protected:
  // What a transaction has done in one index.
  struct Use {
    Index* index = nullptr;
    uint64_t version = 0;  // of the index before the first read; the subclass's
    Overlay overlay;
    ReadLog log;
  };

  struct Running : Transaction {
    std::vector<std::unique_ptr<Use>> uses;  // the first `used` are this transaction's
    size_t used = 0;
    Pins pins;

    bool writes() const;
  };

  template <class Kind>
  class SessionOf final : public ControlSession {
   public:
    Transaction& own() override { return own_; }
    Transaction& automatic() override { return automatic_; }

   private:
    Kind own_;
    Kind automatic_;
  };

  // Before the first read of an index, and before the call that reads it latches it.
  virtual void first_use(const Running&, Use&) {}
  // Like read_next, for what the transaction, or with nullptr everybody from now on, sees as
  // committed. Under the latch.
  virtual int next_committed(const Running* transaction, Index& index, KeydromePosition& position,
                             Pair& pair) = 0;
  // Whether the index is for sure as the transaction saw it. Inside the critical section.
  virtual bool unchanged(const Running& transaction, const Use& use) const = 0;
  virtual ErrCode commit_reads(Running& transaction) = 0;
  // After the reads of a call that writes: whether all reads so far fit together. SUCCESS,
  // DEADLOCK, FAILURE.
  virtual ErrCode check_reads(Running&) { return SUCCESS; }
  // All writes or, with FAILURE, none. Alone in the critical section.
  virtual ErrCode install(Running& transaction) = 0;
  // At every end, before the indexes are unpinned.
  virtual void ended(Running&) {}

  // Repeats the transaction's reads: SUCCESS, DEADLOCK when they answer otherwise now, FAILURE.
  // Inside the critical section.
  ErrCode validate(const Running& transaction);

  // The critical section: alone to install, together to validate. Indexes' latches come after it.
  Latch section_{LatchKind::kShared};
  std::atomic<uint64_t> sections_ = 0;  // how often it was entered

 private:
  Use& use_of(Running& transaction, Index& index);
  int read(const Running& transaction, Use& use, Bound from, const Bound* limit,
           KeydromePosition& position, Pair& pair, bool& position_good);
  int read_from(const Running& transaction, Use& use, const Bound& from, const Bound& limit,
                Pair& pair);
  ErrCode exists(Running& transaction, Use& use, KeydromeBytes key, KeydromeBytes payload,
                 bool& there);
  ErrCode checked(Running& transaction);
  ErrCode repeat(Index& index, const ReadLog& log);
  ErrCode writes_fit(const Running& transaction);
  void end(Running& transaction);

  std::atomic<uint64_t> validations_ = 0;
  std::atomic<uint64_t> failed_validations_ = 0;
};

}  // namespace keydrome::runtime
