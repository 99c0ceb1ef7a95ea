// List: a skip list over pairs of key and payload. Read node.h first.
//
// Sources: W. Pugh, "Skip Lists: A Probabilistic Alternative to Balanced Trees", CACM 1990; M.
// Herlihy, Y. Lev, V. Luchangco, N. Shavit, "A Simple Optimistic Skiplist Algorithm", SIROCCO 2007.
//
// Thread safety: all functions except check may run at the same time. Reads take no lock and never
// wait. Changes lock the few nodes whose links they change. Level 0 decides which pairs the list
// contains: one store to a link of level 0 adds or removes a pair. The runtime frees retired nodes
// only after all calls that could read them have ended.
#pragma once

#include <array>
#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/skiplist/node.h"

namespace keydrome::skiplist {

class List {
 public:
  // Throws std::bad_alloc if out of memory.
  List(const KeydromeEnvironment& environment, const KeydromeSetup& setup);
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List();

  // keydrome/structure_class.h calls these functions and says what they return.
  int put(KeydromeBytes key, KeydromeBytes payload) noexcept;
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept;
  int scan(KeydromeBytes key, KeydromeBytes payload, bool after, KeydromeRun& run) const noexcept;
  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept;
  int check() const;
  uint64_t statistic(uint32_t which) const;

 private:
  // The position of a pair: for each level, the last node before the pair, and the node that its
  // link leads to.
  struct Path {
    std::array<Node*, kHeightMax> before;
    std::array<Node*, kHeightMax> next;
  };

  Node* first(const Probe& probe, bool after) const;
  Path search(const Probe& probe) const;
  Node* make_node(const Probe& pair) const;
  void drop(Node* node) const { memory_.retire(node, node->bytes(), alignof(Node)); }

  const StructureMemory memory_;
  Node* const start_;  // comes before all pairs, and has a link of each level
};

}  // namespace keydrome::skiplist
