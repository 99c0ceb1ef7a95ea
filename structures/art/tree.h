// Tree: an adaptive radix tree over (key, payload) pairs. Read pair.h, link.h, page.h and node.h
// first.
//
// Source: V. Leis, A. Kemper, T. Neumann, "The Adaptive Radix Tree: ARTful Indexing for Main-Memory
// Databases", ICDE 2013. Section III.E calls the path compression of this tree optimistic: searches
// skip digits that a subtree has in common, and compare them in the leaf.
//
// Thread safety: all functions may run at the same time, except create, destroy and check. Readers
// take no lock and write nothing (V. Leis et al., "The ART of Practical Synchronization", DaMoN 2016,
// section 4: read-optimised write exclusion); the only exception is at the end of this comment. This
// is right, because
//
// - each change replaces one link by one store. A link contains all that a search knows about the
//   child, so no reader sees a part of a change.
// - all pairs that are ever below a node agree in the digits before its depth.
// - a node or page that was taken out of the tree does not change any more. The runtime keeps its
//   memory until all calls have ended that may read it. A reader that is there reads the tree as it
//   was when the node was taken out, which is after the reader's call began.
//
// A writer locks the owner of the slot that it changes: the node with the slot, or the tree for the
// root. To replace a node, it locks the node, too. Then it checks that the slot is as it found it,
// and otherwise starts again.
//
// A key whose payloads are in several leaves and pages (a *spread* key) needs more. Only nodes of a
// depth greater than the size of the key divide its payloads. A writer that changes a link in such
// a node holds the key lock of the key, a sequence lock. Readers that look for a payload check that
// no thread had it meanwhile. If that fails a few times, they take it.
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

namespace keydrome::art {

class Tree {
 public:
  // Makes an empty tree. The memory of the Tree object also comes from the environment. Returns
  // nullptr if out of memory.
  static Tree* create(const KeydromeEnvironment& environment);
  static void destroy(Tree* tree);

  // The results of the following functions are those of contract B.
  int put(const Pair& pair);                                         // insert.cc
  int del(const Pair& pair);                                         // erase.cc
  int replace(const Pair& before, const Pair& now);                  // replace.cc
  int scan(const Pair& from, bool after, KeydromeRun& run) const;    // scan.cc
  int find(KeydromeBytes key, KeydromeBuffer& payload) const;        // find.cc
  int find_after(const Pair& after, KeydromeBuffer& payload) const;  // find.cc
  void find_batch(uint32_t count, KeydromeLookup* lookups) const;    // find.cc

  // Returns 0, or the number of the first invariant of the tree that does not hold.
  int check() const;  // check.cc
  // For tests. Empty if the tree is empty.
  Link root() const { return root_.load(); }

  // These functions visit all nodes.
  uint64_t nodes() const;
  uint64_t slots() const;
  uint64_t slots_used() const;
  uint64_t height() const;

 private:
  // A slot and what owns it.
  struct Place {
    Lock* owner;
    Slot* slot;
    uint32_t depth;  // of the owner
  };
  // What a writer found.
  struct Spot {
    Place place;
    Link link;       // in the slot of the place
    uint32_t depth;  // of the first digit in which a new pair differs from those below
    int other;       // their digit, if `link` must get a new parent
    enum { kAdd, kBranch, kGrow } change;  // insert.cc
    Pairs::Rank rank;                      // kAdd: of the new pair
  };
  // A stored pair.
  struct Found {
    Place node_place;  // of the link to the node with the slot; not used if the tree owns the slot
    Link node;         // empty if the tree owns the slot
    Place place;       // of the link to the leaf or page
    Link link;
    uint32_t index;  // of the pair in it
  };

  // Besides the results of contract B, the functions try_... return these. `alone`: the caller
  // holds the key lock.
  static constexpr int kRetry = -100;   // another thread has changed the place
  static constexpr int kSpread = -101;  // the key is spread, and the caller must hold its lock

  explicit Tree(const Memory& memory) : memory_(memory) {}

  Place root_place() { return {&lock_, &root_, 0}; }
  template <class Attempt>
  int change(const Pair& pair, Attempt&& attempt);

  int try_put(const Pair& pair, bool alone);
  bool find_spot(const Pair& pair, Spot& spot);
  bool find_branch(const Pair& pair, uint32_t depth, Spot& spot);
  int add_pair(const Spot& spot, const Pair& pair);
  int add_branch(const Spot& spot, const Pair& pair);
  int add_child(const Spot& spot, const Pair& pair);
  int grow(const Spot& spot, const Pair& pair);

  bool find_pair(const Pair& pair, Found& found);
  int try_del(const Pair& pair, bool alone);
  int kill(const Found& found);
  int remove_last(const Found& found);
  Link without(const Found& found);

  int try_replace(const Pair& before, const Pair& now, bool alone);
  int replace_spread(const Pair& before, const Pair& now);

  int find_spread(const Pair& probe, bool after, KeydromeBuffer& payload) const;
  int find_one(const Pair& probe, bool after, KeydromeBuffer& payload) const;

  const Memory memory_;
  Lock lock_;  // owns root_
  Slot root_;
  mutable KeyLocks key_locks_;
};

// Repeats an attempt until no other thread disturbs it.
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
