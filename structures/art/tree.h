// Tree: an adaptive radix tree over (key, payload) pairs. Read pair.h, link.h, page.h and node.h
// first.
//
// Source: V. Leis, A. Kemper, T. Neumann, "The Adaptive Radix Tree: ARTful Indexing for Main-Memory
// Databases", ICDE 2013. Section III.E calls the path compression of this tree optimistic: searches
// skip digits that a subtree has in common, and compare them in the leaf.
//
// Thread safety: all functions may run at the same time, except create, destroy and check. Readers
// take no lock and write nothing (V. Leis et al., "The ART of Practical Synchronization", DaMoN
// 2016, section 4: read-optimised write exclusion). The only exception is a search for a payload of
// a spread key (see below). Readers find right results for three reasons:
//
// - Each change becomes visible by one store: of a link, of an index of a Node48, or of the marks
//   of deleted pairs in a page. In a word page (words.h), it is a store of the live slots or of a
//   payload. A link contains everything that a search must know about the child before it reads the
//   child. So no reader sees a part of a change.
// - All pairs that are ever below a node have the same digits before the depth of the node.
// - A node or page no longer changes after it has been taken out of the tree. The runtime frees its
//   memory only after all calls that may read it have ended. A reader that is still in this node
//   sees the tree as it was when the node was taken out. The node was taken out after the reader's
//   call began, so the result is right.
//
// A writer locks the *owner* of the slot that it changes: the node that contains the slot, or the
// tree if the slot is that of the root. To replace a node, the writer also locks this node. The
// writer then checks that the slot still has the link that it found before. If not, it starts
// again. A word page has a lock of its own. A writer that changes only the page needs no other
// lock, and a writer that replaces the page takes this lock after that of the owner.
//
// A *spread* key needs more: its payloads are in several leaves and pages. Only nodes whose depth
// is greater than the size of the key divide its payloads. A writer that changes a link in such a
// node holds the key lock of the key, which is a sequence lock. A reader that looks for a payload
// checks that no thread held the key lock during its search. If a thread did, the search is
// repeated. After a few attempts, the reader takes the key lock itself.
//
// Errors: put and replace allocate all memory before they change anything, and return
// KEYDROME_NO_MEMORY if an allocation fails.
#pragma once

#include <array>
#include <cstdint>

#include "keydrome/structure.h"
#include "structures/art/build.h"
#include "structures/art/key_lock.h"
#include "structures/art/lock.h"
#include "structures/art/memory.h"
#include "structures/art/node.h"
#include "structures/art/pairs.h"

namespace keydrome::art {

class Tree {
 public:
  // Makes an empty tree. The memory of the Tree object also comes from the environment. Returns
  // nullptr if out of memory.
  static Tree* create(const KeydromeEnvironment& environment);
  static void destroy(Tree* tree);

  // The results of the following functions are those of contract B, the interface of a data
  // structure (keydrome/structure.h).
  int put(const Pair& pair);                                         // insert.cc
  int del(const Pair& pair);                                         // erase.cc
  int replace(const Pair& before, const Pair& now);                  // replace.cc
  int scan(const Pair& from, bool after, KeydromeRun& run) const;    // scan.cc
  int find(KeydromeBytes key, KeydromeBuffer& payload) const;        // find.cc
  int find_after(const Pair& after, KeydromeBuffer& payload) const;  // find.cc
  void find_batch(uint32_t count, KeydromeLookup* lookups) const;    // find.cc

  // Returns 0, or the number of the first invariant of the tree that does not hold.
  int check() const;  // check.cc
  // The root, for tests. The link is empty if the tree is empty.
  Link root() const { return root_.load(); }

  // These functions visit all nodes.
  uint64_t nodes() const;
  uint64_t slots() const;
  uint64_t slots_used() const;
  uint64_t height() const;

 private:
  // A slot and its owner.
  struct Place {
    Lock* owner;
    Slot* slot;
    uint32_t depth;  // of the owner
  };
  // The place at which a writer can insert a pair.
  struct Spot {
    Place place;
    Link link;       // the link that was in the slot of `place`
    uint32_t depth;  // of the first digit in which the new pair differs from the pairs below `link`
    int other;       // the digit of these pairs at `depth`, if `link` must get a new parent
    enum { kAdd, kBranch, kGrow } change;  // how to insert the pair (insert.cc)
    Pairs::Rank rank;                      // only for kAdd: the rank of the new pair
  };
  // The place of a stored pair.
  struct Found {
    Place node_place;  // of the link to `node`; not used if the tree owns the slot of `place`
    Link node;         // the node with the slot of `place`; empty if the tree owns the slot
    Place place;       // of the link to the leaf or page
    Link link;         // to the leaf or page
    uint32_t bit;      // of the pair: its index in a page, or its slot in a word page
  };

  // In addition to the results of contract B, the functions try_... return these two. `alone` is
  // true if the caller holds the key lock.
  static constexpr int kRetry = -100;   // another thread has changed the place
  static constexpr int kSpread = -101;  // the key is spread, and the caller must hold its lock
  static constexpr int kCopy = -102;    // the page must be replaced by a changed copy

  explicit Tree(const Memory& memory) : memory_(memory) {}

  Place root_place() { return {&lock_, &root_, 0}; }
  template <class Attempt>
  int change(const Pair& pair, Attempt&& attempt);

  int try_put(const Pair& pair, bool alone);
  bool find_spot(const Pair& pair, Spot& spot);
  bool find_branch(const Pair& pair, uint32_t depth, Spot& spot);
  int add_at(Spot& spot, const Pair& pair);
  int add_word_pair(Link page, const Pair& pair);
  int add_pair(const Spot& spot, const Pair& pair);
  int add_branch(const Spot& spot, const Pair& pair);
  int add_child(const Spot& spot, const Pair& pair);
  int grow(const Spot& spot, const Pair& pair);

  bool find_pair(const Pair& pair, Found& found);
  int try_del(const Pair& pair, bool alone);
  int kill(const Found& found, const Pair& pair);
  int kill_in_words(const Found& found, const Pair& pair);
  int remove_last(const Found& found, const Pair& pair);
  int remove_root(const Found& found, const Pair& pair);
  void shrink(const Found& found);
  // Replaces the node that contained the deleted pair by a page, if the node has few pairs, no
  // other thread has replaced it, and there is memory for the page.
  void try_merge(const Found& found);
  Link without(const Found& found);

  int try_replace(const Pair& before, const Pair& now, bool alone);
  int replace_in_words(const Found& found, const Pair& before, const Pair& now);
  int replace_in_copy(const Found& found, const Pair& before, const Pair& now);
  int replace_spread(const Pair& before, const Pair& now);

  int find_spread(const Pair& probe, bool after, KeydromeBuffer& payload) const;
  int find_one(const Pair& probe, bool after, KeydromeBuffer& payload) const;

  const Memory memory_;
  Lock lock_;  // owns root_
  Slot root_;
  mutable KeyLocks key_locks_;
};

// Repeats an attempt until no change of another thread interferes.
template <class Attempt>
int Tree::change(const Pair& pair, Attempt&& attempt) {
  for (Wait wait;; wait.once()) {
    int result = attempt(false);
    if (result == kSpread) {
      const KeyLocks::Held held(key_locks_, pair);
      while ((result = attempt(true)) == kRetry) wait.once();
    }
    if (result != kRetry) return result;
  }
}

}  // namespace keydrome::art
