// Splits pages of the Bw-tree (tree.h) that have too many pairs or children (kPairsMax).
#include "structures/bwtree/latch.h"
#include "structures/bwtree/search.h"
#include "structures/bwtree/tree.h"

namespace keydrome::bwtree {
namespace {

// Returns the smallest pair that may be in the upper half [middle, ...) of a page.
Pair low_of_half(const Entries& entries, uint32_t middle, uint32_t level) {
  if (level > 0) return entries.pairs[middle];
  return shortest_between(entries.pairs[middle - 1], entries.pairs[middle]);
}

}  // namespace

// Exchanges the page for its lower half, which links to the upper half. Only the thread that has
// split a page adds the entry for the new page to the parent. A page can be merged away only while
// the parent has an entry for it. So the thread never adds an entry for a page that no longer
// exists. The caller has the latch of the tree if the page is an inner one.
bool Tree::split(Slot& slot, const Page& page) {
  if (&slot == &root_) return grow(page);
  Entries entries;
  entries.add_all(page);
  const uint32_t level = page.level;
  const uint32_t middle = entries.count / 2;
  const Pair low = low_of_half(entries, middle, level);
  const Base* upper = build_.base(level, entries, middle, entries.count, End::of(base_of(page)));
  Slot* upper_slot = upper == nullptr ? nullptr : build_.slot(upper);
  const Base* lower = upper_slot == nullptr
                          ? nullptr
                          : build_.base(level, entries, 0, middle, {low, true, upper_slot});
  if (lower != nullptr && exchange(slot, page, *lower)) {
    const Latch latch(level == 0 ? &latch_ : nullptr);
    add_child(lower->high(), upper_slot, level + 1);
    return true;
  }
  build_.undo(upper_slot);
  build_.drop(upper);
  return lower != nullptr;
}

// Splits the root, whose slot never moves: both halves get new slots, and the root becomes their
// parent.
bool Tree::grow(const Page& page) {
  Entries entries;
  entries.add_all(page);
  const uint32_t level = page.level;
  const uint32_t middle = entries.count / 2;
  const Pair low = low_of_half(entries, middle, level);
  const Base* upper = build_.base(level, entries, middle, entries.count, {});
  Slot* upper_slot = upper == nullptr ? nullptr : build_.slot(upper);
  const Base* lower = upper_slot == nullptr
                          ? nullptr
                          : build_.base(level, entries, 0, middle, {low, true, upper_slot});
  Slot* lower_slot = lower == nullptr ? nullptr : build_.slot(lower);
  const Base* now = nullptr;
  if (lower_slot != nullptr) {
    Entries halves;
    halves.insert(0, {}, lower_slot);
    halves.insert(1, low, upper_slot);
    now = build_.base(level + 1, halves, 0, halves.count, {});
    if (now != nullptr && exchange(root_, page, *now)) return true;
  }
  build_.undo(lower_slot);
  build_.drop(lower);
  build_.undo(upper_slot);
  build_.drop(upper);
  return now != nullptr;
}

// Adds a child to the page of this level. The caller has the latch of the tree, so no other thread
// changes inner pages. If memory runs out, the child stays without an entry, and searches reach it
// by the link of the page to its left.
void Tree::add_child(const Pair& low, Slot* child, uint32_t level) {
  const Probe probe = Probe::at(low);
  Place place = locate(probe, level);
  if (place.page->count == kPairsMax) {
    if (!split(*place.slot, *place.page)) return;
    place = locate(probe, level);
  }
  const Base& inner = base(*place.page);
  Entries entries;
  entries.add_all(inner);
  entries.insert(child_index(inner, probe) + 1, low, child);
  const Base* now = build_.base(level, entries, 0, entries.count, End::of(inner));
  if (now != nullptr) exchange(*place.slot, inner, *now);
}

}  // namespace keydrome::bwtree
