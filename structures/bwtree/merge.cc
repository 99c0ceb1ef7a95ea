// Merges pages of the Bw-tree (tree.h). A merge moves the contents of a page R to a page L, its
// neighbour to the left, in three steps. Each is one compare-and-swap:
//
//   1. R is marked as removed, so nothing can change it any more. Readers still read it.
//   2. L gets the pairs of both pages, and the link and the upper bound of R. From then on,
//      searches that reach R go back to L.
//   3. The parent loses its entry for R. After that no new search reaches R, and R is retired.
//
// The latch of the tree is held, so no other thread changes inner pages. Changes and splits of
// leaves continue. If L is split before step 2, its upper half takes the role of L. All memory but
// that of step 2 is allocated before step 1, and step 1 can be undone, so a lack of memory leaves
// nothing half done.
#include <algorithm>

#include "structures/bwtree/latch.h"
#include "structures/bwtree/search.h"
#include "structures/bwtree/tree.h"

namespace keydrome::bwtree {
namespace {

// A merged page has room for more pairs, so that it is not split again soon.
constexpr uint32_t kMergedMax = kPairsMax * 2 / 3;
constexpr uint32_t kFewChildren = kPairsMax / 6;

}  // namespace

// Merges the leaf of the position with a neighbour. If its parent has few children after that, does
// the same with the parent, and so on.
void Tree::merge(const Probe& probe) {
  const Latch latch(&latch_);
  for (uint32_t level = 0; merge_at(probe, level); ++level) {
  }
}

// Returns true if the parent should be merged, too.
bool Tree::merge_at(const Probe& probe, uint32_t level) {
  if (root_.page.load()->level <= level) return false;
  const Place above = locate(probe, level + 1);
  const Base& parent = base(*above.page);
  if (parent.count == 1) return true;
  const uint32_t right = std::max(child_index(parent, probe), 1u);
  Slot* const left_slot = parent.children()[right - 1];
  Slot* const right_slot = parent.children()[right];
  const bool few_are_left = parent.count - 1 <= kFewChildren;
  Entries entries;
  entries.add_all(parent);
  entries.erase(right);
  const Base* now = build_.base(level + 1, entries, 0, entries.count, End::of(parent));
  if (now == nullptr) return false;
  const Page* frozen = freeze(*right_slot, left_slot);
  if (frozen == nullptr || !absorb(left_slot, right_slot, *frozen)) {
    if (frozen != nullptr) build_.drop_removed(right_slot->page.exchange(frozen));
    build_.drop(now);
    return false;
  }
  exchange(*above.slot, parent, *now);  // step 3
  build_.drop(right_slot->page.load());
  build_.drop(right_slot);
  return few_are_left;
}

// Step 1. Returns the contents of the right page, or nullptr if the two pages are too large or
// memory runs out.
const Page* Tree::freeze(Slot& right, Slot* left) {
  for (;;) {
    const Page* page = right.page.load();
    if (page->count + left->page.load()->count > kMergedMax) return nullptr;
    const Removed* mark = build_.removed(left, page);
    if (mark == nullptr) return nullptr;
    const Page* frozen = page;
    if (right.page.compare_exchange_strong(page, mark)) return frozen;
    build_.drop_removed(mark);
  }
}

// Step 2. Returns false if the pages are too large now, or memory runs out.
bool Tree::absorb(Slot* left, Slot* right, const Page& frozen) {
  for (;;) {
    Slot* slot = left;
    const Page* page = slot->page.load();
    while (base_of(*page).right != right) {
      slot = base_of(*page).right;
      page = slot->page.load();
    }
    if (page->count + frozen.count > kPairsMax) return false;
    Entries entries;
    entries.add_all(*page);
    entries.add_all(frozen);
    const Base* now = build_.base(page->level, entries, 0, entries.count, End::of(base_of(frozen)));
    if (now == nullptr) return false;
    if (exchange(*slot, *page, *now)) return true;
  }
}

}  // namespace keydrome::bwtree
