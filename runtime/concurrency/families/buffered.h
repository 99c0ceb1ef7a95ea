// Buffered: the base class of optimistic concurrency controls, which buffer their writes until
// commit.
//
// A read takes no lock. It takes the index's latch, which protects the data structure during one
// operation, and records its result in a read log (content/read_log.h). A write stays in the
// transaction's overlay (content/overlay.h): the transaction's own reads see the write, other
// transactions do not.
//
// Commit validates the reads: inside a short critical section it repeats them on the data that is
// committed now. If all results are the same, commit installs the writes; otherwise it returns
// DEADLOCK. A transaction with writes therefore behaves as if it ran at one instant within its
// commit, so it is strictly serialisable. Phantoms are found too, because a repeated read covers a
// whole range of keys. The validation of a transaction T fails only if another transaction commits
// between T's begin and T's commit.
//
// A subclass decides:
// - which pairs of the index a transaction reads (sees),
// - when an index needs no validation (unchanged),
// - how a read-only transaction ends (commit_reads),
// - how the writes are installed (install).
// occ.cc has one version of the data; mvcc.cc has snapshots.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/concurrency/concurrency.h"
#include "runtime/content/content.h"
#include "runtime/content/overlay.h"
#include "runtime/content/read_log.h"
#include "runtime/content/run.h"
#include "runtime/locks/latch.h"

namespace keydrome::runtime {

class Buffered : public Concurrency {
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
  // The reads and the writes of a transaction in one index.
  struct Use {
    Index* index = nullptr;
    uint64_t version = 0;  // for subclasses: the index's version before the first access
    Overlay overlay;
    ReadLog log;
  };

  struct Running : Transaction {
    std::vector<std::unique_ptr<Use>> uses;  // only the first `used` belong to this transaction
    size_t used = 0;
    Run run;  // for reads without a cursor, such as those of a validation

    bool writes() const;
  };

  template <class Kind>
  class ClientOf final : public ClientConcurrency {
   public:
    Transaction& own() override { return own_; }
    Transaction& automatic() override { return automatic_; }

   private:
    Kind own_;
    Kind automatic_;
  };

  // Called before the transaction's first access to an index. The caller does not hold the latch.
  virtual void first_use(const Running&, Use&) {}
  // Returns true if the transaction sees this pair of the index. If `transaction` is nullptr,
  // returns true if the pair is committed now. The caller holds the latch.
  virtual bool sees(const Running* transaction, Index& index, KeydromeBytes key,
                    KeydromeBytes payload) const = 0;
  // Returns true if the index certainly has not changed since the transaction read it. If the
  // result is false, the reads must be repeated.
  virtual bool unchanged(const Running& transaction, const Use& use) const = 0;
  // Commits a transaction that has written nothing.
  virtual ErrCode commit_reads(Running& transaction) = 0;
  // An insertion or deletion calls this function after it has read committed data. Checks that all
  // reads of the transaction so far are consistent. Returns SUCCESS, DEADLOCK if they are not, or
  // FAILURE.
  virtual ErrCode check_reads(Running&) { return SUCCESS; }
  // Installs all writes and returns SUCCESS, or installs none and returns FAILURE. The calling
  // thread has entered the critical section exclusively.
  virtual ErrCode install(Running& transaction) = 0;
  // Called when a transaction commits, aborts or fails, before its overlays and logs are cleared.
  virtual void ended(Running&) {}

  // Repeats the transaction's reads. Returns SUCCESS, DEADLOCK if a result differs now, or FAILURE.
  // The caller is inside the critical section.
  ErrCode validate(Running& transaction);

  // The critical section of commits. A thread enters it exclusively to install writes, or shared to
  // validate only. A thread that needs both the section and an index's latch enters the section
  // first.
  Latch section_{LatchKind::kShared};
  std::atomic<uint64_t> sections_ = 0;  // number of entries into the critical section

 private:
  Use& use_of(Running& transaction, Index& index);
  class RunSource;
  class KeySource;
  template <class Source>
  int read(Use& use, Bound from, const Bound* limit, Source& source, Pair& pair);
  ErrCode exists(Running& transaction, Use& use, KeydromeBytes key, KeydromeBytes payload,
                 bool& there);
  ErrCode checked(Running& transaction);
  ErrCode repeat(Running& transaction, Index& index, const ReadLog& log);
  void end(Running& transaction);

  std::atomic<uint64_t> validations_ = 0;
  std::atomic<uint64_t> failed_validations_ = 0;
};

}  // namespace keydrome::runtime
