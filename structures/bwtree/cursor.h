// Cursor: visits the pairs of a leaf of the Bw-tree in order, from a position on. A leaf has a
// base, which contains sorted pairs, and deltas, the changes since the base was made. The cursor
// merges both.
#pragma once

#include <cstdint>

#include "structures/bwtree/guess.h"
#include "structures/bwtree/page.h"

namespace keydrome::bwtree {

enum class Only : uint8_t { kAll, kKey };

// Only one thread may use a cursor. The leaf must not be freed while the cursor exists.
class Cursor {
 public:
  // With Only::kKey, the cursor visits the pairs with the probe's key, and maybe others after them.
  // It ignores the deltas of other keys, so it sorts few deltas. `share` is the estimated position
  // of the probe in the leaf (guess.h), and only affects the speed. REQUIRES: the leaf is not a
  // removed one, i.e. not being merged (Kind::kRemoved).
  Cursor(const Page& leaf, const Probe& probe, Only only, uint32_t share = kShareUnknown);

  // Returns false after the last pair.
  bool next(Pair& pair);
  // Appends the pairs to the run. Returns false if the next pair does not fit.
  bool emit(KeydromeRun& run);

 private:
  struct Change {
    const Delta* delta;
    uint32_t at;  // number of smaller pairs in the base
    bool is_in_base;
  };

  void add(const Delta& delta);
  bool emit_base(uint32_t to, KeydromeRun& run);
  bool emit_numbers(uint32_t to, KeydromeRun& run);

  const Base* base_;
  uint32_t at_;                 // index of the next pair of the base
  uint32_t next_ = 0;           // index of the next element of changes_
  uint32_t count_ = 0;          // number of elements of changes_
  Change changes_[kDeltasMax];  // ascending; only the newest delta of each pair
};

inline bool Cursor::next(Pair& pair) {
  while (next_ < count_ && changes_[next_].at == at_) {
    const Change& change = changes_[next_++];
    at_ += change.is_in_base ? 1 : 0;
    if (change.delta->kind == Kind::kDelete) continue;
    pair = change.delta->pair();
    return true;
  }
  if (at_ == base_->count) return false;
  pair = base_->pair(at_++);
  return true;
}

}  // namespace keydrome::bwtree
