// Multi-version concurrency control with serial validation.
//
// Every commit that writes has a timestamp. A transaction reads the snapshot of all commits up to
// its begin, so everything it sees is consistent, and one that wrote nothing has run at its begin:
// it commits without a look at anything, and never fails. One that wrote is validated against what
// is committed at its end (buffered.h) and has run there. Both instants lie between begin and
// commit, so all is strictly serialisable; the read-only anomaly of snapshot isolation cannot
// happen because nobody who wrote keeps a snapshot's order.
//
// Why not SSI: it would let through some transactions whose reads have changed since, but needs
// locks that record every read in shared memory and outlive commits. The read log is private.
//
// The structure holds every pair that somebody may still see. Beside it, per index, stand the lives
// (from which commit on, and until which) of those pairs only that not everybody sees; a pair
// without an entry is there for all. A commit clears away, in the indexes that it writes to, what
// no snapshot needs any more; so what the last commits to an index deleted stays until the next
// one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/thread_annotations.h"
#include "runtime/control/buffered.h"

namespace keydrome::runtime {

class Mvcc final : public Buffered {
 public:
  // How the structure is protected: kExclusive or kShared.
  explicit Mvcc(LatchKind latch) : latch_(latch) {}

  std::unique_ptr<IndexControl> make_index_control() override;
  std::unique_ptr<ControlSession> make_session() override;
  ErrCode begin(Transaction& transaction) override;
  Json statistics() const override;

 private:
  struct Versioned;  // an index's IndexControl
  struct Snapshot;   // a transaction with what it sees
  class Session;

  static constexpr uint64_t kIdle = UINT64_MAX;

  int next_committed(const Running* transaction, Index& index, KeydromePosition& position,
                     Pair& pair) override;
  bool unchanged(const Running& transaction, const Use& use) const override;
  ErrCode commit_reads(Running& transaction) override;
  ErrCode install(Running& transaction) override;
  void ended(Running& transaction) override;

  template <class Call>
  static void for_each_written(const Running& transaction, Call&& call);
  static void take_back(const Running& transaction, uint64_t now);
  uint64_t oldest_snapshot();
  void collect(Index& index, uint64_t oldest);

  const LatchKind latch_;
  // The newest commit whose writes are all there.
  std::atomic<uint64_t> clock_ = 0;
  std::atomic<uint64_t> collected_ = 0;  // deleted pairs that have been cleared away
  Mutex snapshots_mutex_;
  // Of every transaction there is; they live as long as the control.
  std::vector<const Snapshot*> snapshots_ KEYDROME_GUARDED_BY(snapshots_mutex_);
};

}  // namespace keydrome::runtime
