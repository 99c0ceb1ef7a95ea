// Serial execution per partition: a partition is a range of keys of one index, and one transaction
// at a time has it, to read or to write, until it ends.
//
// A transaction takes a partition when it first touches a key or crosses a gap in it, so a scan
// takes those it passes and DB_END the last one; phantoms and stale reads cannot happen. Partitions
// are taken as they are needed, since contract A does not announce them; a cycle of waiting
// transactions is found and its youngest is rolled back.
//
// An index begins as one partition. Once it has seen enough changes, the transaction that has it
// cuts it at the quantiles of its keys, once and for all: until then this is index_2pl `exclusive`,
// from then on transactions in different ranges run side by side.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/control/two_phase.h"

namespace keydrome::runtime {

class Serial final : public TwoPhase {
 public:
  static constexpr size_t kPartitions = 32;
  // An index is cut after this many changes, or at the next doubling when it has too few keys.
  static constexpr uint64_t kCutAfterChanges = 1024;

  // How the structure is protected: kExclusive or kShared.
  explicit Serial(LatchKind latch) : latch_(latch) {}

  std::unique_ptr<IndexControl> make_index_control() override;
  std::unique_ptr<ControlSession> make_session() override;

  ErrCode get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) override;
  ErrCode get_next(Transaction& transaction, Index& index, Cursor& cursor) override;
  ErrCode insert(Transaction& transaction, Index& index, KeydromeBytes key,
                 KeydromeBytes payload) override;
  ErrCode erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                     KeydromeBytes payload) override;
  ErrCode erase_key(Transaction& transaction, Index& index, KeydromeBytes key) override;

  Json statistics() const override;

 private:
  struct Partitioned;  // an index's IndexControl
  struct Running;      // a transaction with its partitions
  struct Use;          // what it has of one index

  static Use& use_of(Running& transaction, Index& index);
  ErrCode take(Running& transaction, Use& use, size_t partition);
  ErrCode take_key(Running& transaction, Index& index, KeydromeBytes key);
  static ErrCode step(Use& use, Index& index, Cursor& cursor, size_t& missing);
  void before_release(Locking& transaction) override;
  static bool cut(Index& index);

  const LatchKind latch_;
  std::atomic<uint64_t> cuts_ = 0;
};

}  // namespace keydrome::runtime
