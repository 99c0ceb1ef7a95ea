// Implements cursor.h: sorts the deltas of a leaf, and copies the pairs of the leaf into a run, the
// caller's buffer. The *base* of a leaf has sorted pairs, and each *delta* is a later change
// (page.h).
#include "structures/bwtree/cursor.h"

#include "structures/bwtree/search.h"

namespace keydrome::bwtree {

Cursor::Cursor(const Page& leaf, const Probe& probe, Only only, uint32_t share)
    : base_(&base_of(leaf)) {
  if (only == Only::kAll) ask(*base_);
  const bool has_changes =
      leaf.kind != Kind::kBase && (only == Only::kAll || delta(leaf).may_have(probe.head));
  for (const Page* page = &leaf; has_changes && page != base_; page = delta(*page).next) {
    const Delta& change = delta(*page);
    if (only == Only::kKey && (change.head != probe.head || change.pair().key != probe.key))
      continue;
    if (change.head >= probe.head && compare(change.pair(), probe) >= 0) add(change);
  }
  at_ = pairs_before(*base_, probe, false, share);
  for (uint32_t i = 0; i < count_; ++i) {
    Change& change = changes_[i];
    const Pair pair = change.delta->pair();
    change.at = pairs_before(*base_, Probe::at(pair), false);
    change.is_in_base = change.at < base_->count && compare(base_->pair(change.at), pair) == 0;
  }
}

bool Cursor::emit(KeydromeRun& run) {
  for (;;) {
    if (!emit_base(next_ < count_ ? changes_[next_].at : base_->count, run)) return false;
    if (next_ == count_) return true;
    const Change& change = changes_[next_];
    const Pair pair = change.delta->pair();
    if (change.delta->kind == Kind::kInsert &&
        keydrome_run_add(&run, bytes_of(pair.key), bytes_of(pair.payload)) == 0) {
      return false;
    }
    ++next_;
    at_ += change.is_in_base ? 1 : 0;
  }
}

// Appends the pairs of the base up to `to`. Records follow each other in the form that a run has,
// so they are copied together.
bool Cursor::emit_base(uint32_t to, KeydromeRun& run) {
  if (base_->has_numbers) return emit_numbers(to, run);
  const uint32_t begin = base_->record_at(at_);
  uint32_t end_at = std::min(to, at_ + (run.limit - run.pairs));
  while (base_->record_at(end_at) - begin > run.capacity - run.size) --end_at;
  const uint32_t bytes = base_->record_at(end_at) - begin;
  std::memcpy(static_cast<char*>(run.data) + run.size, reinterpret_cast<const char*>(base_) + begin,
              bytes);
  run.size += bytes;
  run.pairs += end_at - at_;
  at_ = end_at;
  return at_ == to;
}

// Like keydrome_run_add(), but checks only once how many pairs fit.
bool Cursor::emit_numbers(uint32_t to, KeydromeRun& run) {
  constexpr uint32_t kSize = Base::kHead;
  constexpr uint32_t kRecord = 2 + 2 * kSize;
  const uint32_t room = std::min(run.limit - run.pairs, (run.capacity - run.size) / kRecord);
  const uint32_t count = std::min(to - at_, room);
  char* record = static_cast<char*>(run.data) + run.size;
  for (const uint32_t end = at_ + count; at_ < end; ++at_) {
    record[0] = kSize;
    record[1] = kSize;
    std::memcpy(record + 2, base_->number(at_), 2 * kSize);
    record += kRecord;
  }
  run.size += count * kRecord;
  run.pairs += count;
  return at_ == to;
}

// The constructor adds deltas from the newest to the oldest. So a delta is obsolete if a delta of
// the same pair has been added before.
void Cursor::add(const Delta& delta) {
  uint32_t at = count_;
  while (at > 0) {
    const int order = compare(changes_[at - 1].delta->pair(), delta.pair());
    if (order == 0) return;
    if (order < 0) break;
    --at;
  }
  std::copy_backward(changes_ + at, changes_ + count_, changes_ + count_ + 1);
  changes_[at].delta = &delta;
  ++count_;
}

}  // namespace keydrome::bwtree
