// Tree: a Bw-tree over pairs of key and payload. Read page.h first.
//
// Sources: J. Levandoski, D. Lomet, S. Sengupta, "The Bw-Tree: A B-tree for New Hardware
// Platforms", ICDE 2013; Z. Wang et al., "Building a Bw-Tree Takes More Than Just Buzz Words",
// SIGMOD 2018; P. Lehman, S. Yao, "Efficient Locking for Concurrent Operations on B-Trees", TODS
// 1981 (links to the right).
//
// Thread safety: all functions except check and statistic may run at the same time.
//
// - A reader loads the pointer in a slot. What it points to does not change, so the reader has the
//   page as it was at that moment.
// - A change makes new contents of a page, and puts them into the slot by compare-and-swap. If
//   another thread was faster, the change begins again.
// - A split exchanges the leaf for its lower half, which links to a new leaf on the right. Then the
//   parent gets an entry for the new leaf. Until then, searches reach it by the link.
// - Changes of inner pages take the latch of the tree, so parents stay as they are during a merge.
//   Searches and changes of leaves do not take it. A split of a leaf takes it only to change the
//   parent.
// - The runtime frees retired pages and slots only after all calls that could read them have ended.
#pragma once

#include <atomic>
#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/bwtree/build.h"
#include "structures/bwtree/guess.h"
#include "structures/bwtree/page.h"

namespace keydrome::bwtree {

class Tree {
 public:
  // Throws std::bad_alloc if out of memory.
  Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  // keydrome/structure_class.h calls these functions and says what they return.
  int put(KeydromeBytes key, KeydromeBytes payload) noexcept;
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept;
  int scan(KeydromeBytes key, KeydromeBytes payload, bool after, KeydromeRun& run) const noexcept;
  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept;
  int check() const;
  uint64_t statistic(uint32_t which) const;

  // For tests.
  Slot& root() { return root_; }

 private:
  // A page that a search has found. `page` is not a removed one.
  struct Place {
    Slot* slot;
    const Page* page;
    // The page is unchanged as long as `watched` points to `seen`. These two are `slot` and `page`,
    // unless the page is frozen.
    const Slot* watched;
    const Page* seen;
    uint32_t share = kShareUnknown;  // estimated place of the position in the page (guess.h)

    // Returns true if the page is being merged, so that nothing can change it.
    bool is_frozen() const { return watched != slot; }
  };

  // These functions (tree.cc) find the page of a level that has the pairs after the position.
  Place locate(const Probe& probe, uint32_t level) const {
    return locate_from(&root_, probe, level);
  }
  static Place locate_from(const Slot* slot, const Probe& probe, uint32_t level);
  static Place place_of(Slot* slot, const Probe& probe) {
    const Page* page = slot->page.load();
    return page->is_removed() ? left_of(slot, page, probe) : Place{slot, page, slot, page};
  }
  static Place left_of(Slot* slot, const Page* page, const Probe& probe);
  uint64_t collect(const Probe& probe, KeydromeBuffer& payload, int& found) const;

  // change.cc. shorten() and rebuild() return false if out of memory, and true if the page has
  // changed, whether by this call or by another thread. The same holds for split() and grow().
  int change(Kind kind, const Probe& pair);
  void tidy(Slot& slot, const Delta& newest, const Probe& pair);
  bool shorten(const Place& leaf);
  bool rebuild(Slot& slot, const Page& leaf);
  bool exchange(Slot& slot, const Page& before, const Page& now);

  // split.cc
  bool split(Slot& slot, const Page& page);
  bool grow(const Page& page);
  void add_child(const Pair& low, Slot* child, uint32_t level);

  // merge.cc
  void merge(const Probe& probe);
  bool merge_at(const Probe& probe, uint32_t level);
  const Page* freeze(Slot& right, Slot* left);
  bool absorb(Slot* left, Slot* right, const Page& frozen);

  Builder build_;
  Slot root_;  // has the highest level, and never moves
  std::atomic<bool> latch_ = false;
};

}  // namespace keydrome::bwtree
