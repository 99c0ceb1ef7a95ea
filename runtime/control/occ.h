// Optimistic concurrency control with one version of the data.
//
// A transaction reads what is committed when it reads it; validation finds out whether that was the
// same all the time (buffered.h). Calls that write find out early, so that nobody is told that a
// record is missing which the same transaction has just read. Reads alone may show a transaction
// that has lost already what does not fit together.
//
// That usually needs no lock either: every index has a version that is odd while a commit installs
// into it and moves on by two with each such commit. When all versions are even and as they were
// before the first read, then at the instant of the last of these first reads every index was as it
// was read, and no commit was half installed: all versions of a commit's indexes are odd before it
// installs anything, and until it has installed everything. Otherwise the reads are repeated inside
// the critical section.
#pragma once

#include <memory>

#include "runtime/control/buffered.h"

namespace keydrome::runtime {

class Occ final : public Buffered {
 public:
  // How the structure is protected: kExclusive or kShared.
  explicit Occ(LatchKind latch) : latch_(latch) {}

  std::unique_ptr<IndexControl> make_index_control() override;
  std::unique_ptr<ControlSession> make_session() override;

 private:
  struct Versioned;  // an index's IndexControl

  void first_use(const Running& transaction, Use& use) override;
  int next_committed(const Running* transaction, Index& index, KeydromePosition& position,
                     Pair& pair) override;
  bool unchanged(const Running& transaction, const Use& use) const override;
  ErrCode commit_reads(Running& transaction) override;
  ErrCode check_reads(Running& transaction) override;
  ErrCode install(Running& transaction) override;

  const LatchKind latch_;
  UndoLog undo_;  // of who is alone in the critical section
};

}  // namespace keydrome::runtime
