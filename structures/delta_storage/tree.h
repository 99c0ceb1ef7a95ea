// Tree: the dictionary of pairs, and the index that keeps their ids in order. Read dictionary.h and
// node.h first.
//
// Source: T. Karnagel, R. Dementiev, R. Rajwar, K. Lai, T. Legler, B. Schlegel, W. Lehner,
// "Improving In-Memory Database Index Performance with Intel Transactional Synchronization
// Extensions", HPCA 2014, sections 2 and 5. README.md lists the differences.
//
// Thread safety: threads may call the const functions at the same time, as long as no thread calls
// another function. Errors: a function that fails has changed nothing.
#pragma once

#include <array>
#include <cstdint>

#include "structures/delta_storage/node.h"
#include "structures/delta_storage/options.h"

namespace keydrome::delta_storage {

class Tree {
 public:
  // Throws std::bad_alloc if out of memory.
  Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  static bool accepts(const char* options) { return Options::parse(options).has_value(); }

  // keydrome/structure_class.h calls these functions and says what they return.
  int put(KeydromeBytes key, KeydromeBytes payload) noexcept;  // insert.cc
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept;  // erase.cc
  int scan(KeydromeBytes key, KeydromeBytes payload, bool after,
           KeydromeRun& run) const noexcept;  // read.cc
  int find(KeydromeBytes key, KeydromeBytes after,
           KeydromeBuffer& payload) const noexcept;  // read.cc
  int check() const;                                 // check.cc
  uint64_t statistic(uint32_t which) const;          // check.cc

  // For tests.
  const Dictionaries& dictionaries() const { return dictionaries_; }

 private:
  // Enough for 2^32 pairs, even if all nodes are a third full.
  static constexpr uint32_t kLevelsMax = 16;

  // The path from the root to a leaf.
  struct Path {
    Leaf* leaf;
    uint32_t depth;  // number of inner nodes
    std::array<Inner*, kLevelsMax> nodes;
    std::array<uint32_t, kLevelsMax> children;
  };
  // Nodes for a split, which are allocated before the tree changes.
  struct Spare;
  // Checks a subtree.
  class Checker;

  // Returns how many of the ids of a node have pairs before the position. With `with_equal`, counts
  // the pair directly after the position, too, if it is equal to the probe's pair.
  uint32_t ids_before(const Id* ids, uint32_t count, const Probe& probe, bool with_equal) const;
  uint32_t child_of(const Inner& inner, const Probe& probe) const {
    return ids_before(inner.ids, inner.count, probe, true);
  }
  // Returns the leaf of the position, and sets `index` to the first id after the position. If all
  // ids of the leaf are before the position, sets `index` to their number.
  const Leaf* locate(const Probe& probe, uint32_t& index) const;
  Path path_to(const Probe& probe) const;

  template <class Made>
  Made* make_node(uint32_t level) const;
  void drop(Node* node) const;
  void drop_subtree(Node* node) const;

  bool reserve(const Path& path, Spare& spare) const;
  void split(Path& path, uint32_t& index, Spare& spare);
  void add_child(const Path& path, uint32_t depth, Id separator, Node* right, Spare& spare);

  void rebalance(const Path& path);
  bool join_leaves(Inner& parent, uint32_t left_child);
  bool join_inners(Inner& parent, uint32_t left_child);
  static void remove_child(Inner& parent, uint32_t left_child);

  const StructureMemory memory_;
  const Options options_;
  Dictionaries dictionaries_;
  Node* root_;
};

}  // namespace keydrome::delta_storage
