// Tree: a prefix tree (trie) over pairs of key and payload. Read record.h first, then node.h.
//
// Source: M. Boehm et al., "Efficient In-Memory Indexing with Generalized Prefix Trees", BTW 2011.
// The second-placed entry of the SIGMOD 2009 programming contest is a prefix tree that skips
// leading zeros (E. Reid's thesis on the contest, section 5.3.1). The storage engine ERIS uses a
// prefix tree with a stride of 8 bits, and moves parts of it between processors (T. Kissinger et
// al., ADMS 2014, sections 3.3.2 and 4).
//
// Thread safety: threads may call the const functions at the same time, as long as no thread calls
// another function. Errors: a function that fails has changed nothing, but load may have added
// pairs.
#pragma once

#include <cstdint>

#include "keydrome/structure.h"
#include "structures/prefix_tree/memory.h"
#include "structures/prefix_tree/node.h"
#include "structures/prefix_tree/record.h"

namespace keydrome::prefix_tree {

class Tree {
 public:
  Tree(const KeydromeEnvironment& environment, const KeydromeSetup&) : memory_(environment) {}
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() { drop_subtree(root_); }

  // keydrome/structure_class.h calls these functions and says what they return.
  int put(KeydromeBytes key, KeydromeBytes payload) noexcept;                        // insert.cc
  int load(const KeydromeRun& run) noexcept;                                         // insert.cc
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept;                        // erase.cc
  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) noexcept;  // erase.cc
  int scan(KeydromeBytes key, KeydromeBytes payload, bool after,
           KeydromeRun& run) const noexcept;  // scan.cc
  int find(KeydromeBytes key, KeydromeBytes after,
           KeydromeBuffer& payload) const noexcept;                         // find.cc
  void find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept;  // find.cc
  int split(KeydromeBytes key, Tree& high) noexcept;                        // split.cc
  int concat(Tree& high) noexcept;                                          // concat.cc
  int check() const;                                                        // check.cc
  uint64_t statistic(uint32_t which) const;                                 // check.cc

 private:
  int add(const Probe& pair);
  int remove(const Probe& pair);
  int insert(const Probe& pair, uint32_t position, const Record& neighbour);
  void drop_subtree(Slot slot);

  Memory memory_;
  Slot root_;
};

// Returns a record below the slot, which must not be empty. No record below the slot shares more
// leading symbols with the probe.
inline Record* closest_record(Slot slot, const Probe& probe) {
  while (!slot.is_record()) {
    const Node& node = *slot.node();
    const uint32_t symbol = probe.symbol(node.depth);
    slot = node.children()[node.has(symbol) ? node.rank(symbol) : 0];
  }
  return slot.record();
}

}  // namespace keydrome::prefix_tree
