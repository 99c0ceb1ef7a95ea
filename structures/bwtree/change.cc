// Implements put() and del() of Tree (tree.h). Each change puts a *delta*, a record of one change,
// in front of the sorted pairs of a leaf, the *base*. A leaf with many deltas gets a new base.
#include "base/spin_wait.h"
#include "structures/bwtree/tree.h"

namespace keydrome::bwtree {

int Tree::put(KeydromeBytes key, KeydromeBytes payload) noexcept {
  return change(Kind::kInsert, {view_of(key), view_of(payload)});
}

int Tree::del(KeydromeBytes key, KeydromeBytes payload) noexcept {
  return change(Kind::kDelete, {view_of(key), view_of(payload)});
}

int Tree::change(Kind kind, const Probe& pair) {
  Delta* made = nullptr;
  for (SpinWait wait;; wait.once()) {
    const Place leaf = locate(pair, 0);
    if (leaf.is_frozen()) continue;
    if (contains(*leaf.page, pair, leaf.share) == (kind == Kind::kInsert)) {
      build_.drop_delta(made);
      return 0;
    }
    if (made == nullptr) made = build_.delta(kind, pair);
    if (made == nullptr) return KEYDROME_NO_MEMORY;
    if (leaf.page->deltas >= kDeltasMax) {
      if (shorten(leaf)) continue;
      build_.drop_delta(made);
      return KEYDROME_NO_MEMORY;
    }
    made->put_before(*leaf.page);
    const Page* expected = leaf.page;
    if (!leaf.slot->page.compare_exchange_strong(expected, made)) continue;
    tidy(*leaf.slot, *made, pair);
    return 1;
  }
}

// After a change, splits the leaf, gives it a new base, or merges it with a neighbour, if this is
// necessary. The tree is right even if this fails, and a later change tries it again.
void Tree::tidy(Slot& slot, const Delta& newest, const Probe& pair) {
  constexpr uint32_t kFew = kPairsMax / 6;
  const uint32_t count = newest.count;
  const bool is_long = newest.deltas >= kDeltasUsual;
  const bool is_small = count <= kFew && newest.kind == Kind::kDelete && (is_long || count == 0);
  if (count > kPairsMax) {
    split(slot, newest);
  } else if (is_long) {
    rebuild(slot, newest);
  }
  if (is_small) merge(pair);
}

bool Tree::shorten(const Place& leaf) {
  return leaf.page->count > kPairsMax ? split(*leaf.slot, *leaf.page)
                                      : rebuild(*leaf.slot, *leaf.page);
}

bool Tree::rebuild(Slot& slot, const Page& leaf) {
  Entries entries;
  entries.add_all(leaf);
  const Base* now = build_.base(0, entries, 0, entries.count, End::of(base_of(leaf)));
  if (now == nullptr) return false;
  exchange(slot, leaf, *now);
  return true;
}

// If the slot still points to `before`, stores `now` in it, retires `before`, and returns true.
// Otherwise retires `now`, and returns false.
bool Tree::exchange(Slot& slot, const Page& before, const Page& now) {
  const Page* expected = &before;
  const bool is_done = slot.page.compare_exchange_strong(expected, &now);
  if (is_done && now.level == 0) slot.hint.store(hint_of(base(now)), std::memory_order_relaxed);
  build_.drop(is_done ? &before : &now);
  return is_done;
}

}  // namespace keydrome::bwtree
