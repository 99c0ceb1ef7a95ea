// Implements parts of tree.h: makes and destroys the tree, and reads it.
#include "structures/bwtree/tree.h"

#include <new>

#include "base/hash.h"
#include "structures/bwtree/cursor.h"
#include "structures/bwtree/search.h"

namespace keydrome::bwtree {

namespace {

// Returns true if find() needs to search only the base: the leaf has numbers, and no delta has the
// key. The first pair of the base with the key is then the answer.
bool is_plain(const Page& leaf, const Base& contents, const Probe& probe) {
  return contents.has_numbers && probe.key.size() == Base::kHead && !probe.after &&
         (leaf.kind == Kind::kBase || !delta(leaf).may_have(probe.head));
}

}  // namespace

Tree::Tree(const KeydromeEnvironment& environment, const KeydromeSetup&)
    : build_(environment), root_{build_.base(0, Entries{}, 0, 0, {})} {
  if (root_.page.load() == nullptr) throw std::bad_alloc();
}

// Frees level by level, because all pages of a level are linked.
Tree::~Tree() {
  Slot* leftmost = &root_;
  while (leftmost != nullptr) {
    const Page& first = *leftmost->page.load();
    Slot* const below = first.level > 0 ? base(first).children()[0] : nullptr;
    for (Slot* slot = leftmost; slot != nullptr;) {
      const Page* page = slot->page.load();
      Slot* const right = base_of(*page).right;
      build_.drop(page);
      if (slot != &root_) build_.drop(slot);
      slot = right;
    }
    leftmost = below;
  }
}

Tree::Place Tree::locate_from(const Slot* from, const Probe& probe, uint32_t level) {
  Slot* slot = const_cast<Slot*>(from);
  uint32_t share = kShareUnknown;
  for (;;) {
    Place place = place_of(slot, probe);
    const Base& contents = base_of(*place.page);
    if (contents.ends_before(probe)) {
      slot = contents.right;
      share = 0;
    } else if (contents.level == level) {
      place.share = share;
      return place;
    } else {
      const uint32_t child = child_index(contents, probe);
      slot = contents.children()[child];
      if (contents.level > 1) continue;
      share = share_of(contents.heads()[child], probe.head, contents.heads()[child + 1]);
      ask(*slot, share);
    }
  }
}

// Finds the pairs of a removed page. A merge (merge.cc) first marks the page as removed and freezes
// its contents, and then, in step 2, adds the pairs to the page to its left. Until step 2 the
// frozen contents are valid. After step 2, the page to the left, or a page between the two,
// contains the pairs.
Tree::Place Tree::left_of(Slot* slot, const Page* page, const Probe& probe) {
  while (page->is_removed()) {
    Slot* left = removed(*page).left;
    const Page* left_page = left->page.load();
    while (base_of(*left_page).ends_before(probe)) {
      Slot* const right = base_of(*left_page).right;
      if (right == slot) return {slot, removed(*page).frozen, left, left_page};
      left = right;
      left_page = left->page.load();
    }
    slot = left;
    page = left_page;
  }
  return {slot, page, slot, page};
}

// The payloads of a key may be on two pages, and another thread may change one page while this call
// reads the other. So find() repeats the reads until two successive passes see the same pages. Then
// both pages were in the tree between the two passes.
int Tree::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
  const Probe probe{view_of(key), view_of(after), after.data != nullptr};
  int found = 0;
  uint64_t seen = collect(probe, payload, found);
  while (seen != 0) {
    const uint64_t again = collect(probe, payload, found);
    if (again == seen) break;
    seen = again;
  }
  return found;
}

// Looks for the first pair after the position. This pair counts as found if it has the key of the
// position. Returns 0 if one page was enough, and otherwise a hash of the addresses of all pages
// that were read.
uint64_t Tree::collect(const Probe& probe, KeydromeBuffer& payload, int& found) const {
  uint64_t seen = 0;
  const Probe end{.key = probe.key, .payload = {}, .past_key = true, .head = probe.head};
  for (Place place = locate(probe, 0);;) {
    const Base& contents = base_of(*place.page);
    if (is_plain(*place.page, contents, probe)) {
      const uint32_t at = numbers_below(contents, probe.head, place.share);
      found = at < contents.count && load_big(contents.number(at)) == probe.head ? 1 : 0;
      if (found == 1) copy_payload({contents.number(at) + Base::kHead, Base::kHead}, payload);
    } else {
      Cursor cursor(*place.page, probe, Only::kKey, place.share);
      Pair pair;
      found = cursor.next(pair) && pair.key == probe.key ? 1 : 0;
      if (found == 1) copy_payload(pair.payload, payload);
    }
    const bool is_last = found == 1 || !contents.ends_before(end);
    if (is_last && seen == 0) return 0;
    seen = hash_mix(seen, hash_mix(reinterpret_cast<uintptr_t>(place.watched),
                                   reinterpret_cast<uintptr_t>(place.seen))) |
           1;
    if (is_last) return seen;
    place = locate_from(contents.right, probe, 0);
  }
}

int Tree::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
               KeydromeRun& run) const noexcept {
  keydrome_run_clear(&run);
  Probe probe{view_of(key), view_of(payload), after, after && payload.data == nullptr};
  for (Place place = locate(probe, 0);;) {
    Cursor cursor(*place.page, probe, Only::kAll);
    if (!cursor.emit(run)) return 1;
    const Base& contents = base_of(*place.page);
    if (!contents.has_high) return 0;
    if (run.pairs == run.limit) return 1;
    probe = Probe::at(contents.high());
    place = locate_from(contents.right, probe, 0);
  }
}

}  // namespace keydrome::bwtree
