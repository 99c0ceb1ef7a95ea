// Entries: the contents of pages of the Bw-tree as a list. Builder: makes pages from such lists,
// and gives their memory back. A *removed* page is being merged with the page to its left, and its
// contents are frozen (page.h).
#pragma once

#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/bwtree/page.h"
#include "structures/bwtree/slots.h"

namespace keydrome::bwtree {

// The bytes stay in the pages that the entries come from.
struct Entries {
  // Enough for a leaf with as many deltas as possible, and for an inner page with one more child.
  static constexpr uint32_t kMost = kPairsMax + kDeltasMax;

  Pair pairs[kMost];
  Slot* children[kMost];  // only of inner pages
  uint32_t count = 0;

  // Appends the pairs or children of a page. REQUIRES: the page is not a removed one.
  void add_all(const Page& page);
  void insert(uint32_t at, const Pair& pair, Slot* child);
  void erase(uint32_t at);
};

// Where a page ends. All its pairs are smaller than `high`, if has_high is true.
struct End {
  Pair high;
  bool has_high = false;
  Slot* right = nullptr;

  static End of(const Base& base) {
    return {base.has_high ? base.high() : Pair{}, base.has_high, base.right};
  }
};

// Thread-safe. The functions that make something return nullptr if out of memory.
class Builder {
 public:
  explicit Builder(const KeydromeEnvironment& environment) : memory_(environment) {}

  // Makes a page of the entries [from, to).
  Base* base(uint32_t level, const Entries& entries, uint32_t from, uint32_t to,
             const End& end) const;
  // Makes a delta that inserts or deletes the pair: `kind` is kInsert or kDelete. The delta is not
  // yet linked to a page; Delta::put_before() does this.
  Delta* delta(Kind kind, const Probe& pair) const;
  Removed* removed(Slot* left, const Page* frozen) const;
  Slot* slot(const Page* page) { return slots_.make(page); }

  // Retires a page with its deltas. Of a removed page, also retires the frozen contents. Ignores
  // nullptr.
  void drop(const Page* page) const;
  void drop_delta(const Delta* delta) const;
  void drop_removed(const Page* mark) const;  // without what is frozen
  void drop(Slot* slot) const {
    if (slot != nullptr) slots_.drop(slot);
  }
  // Drops a slot that no other thread knows. Ignores nullptr.
  void undo(Slot* slot) {
    if (slot != nullptr) slots_.undo(slot);
  }

 private:
  template <class Kept>
  void retire(const Kept* kept, size_t bytes) const {
    memory_.retire(const_cast<Kept*>(kept), bytes, alignof(Kept));
  }

  const StructureMemory memory_;
  Slots slots_{memory_};
};

}  // namespace keydrome::bwtree
