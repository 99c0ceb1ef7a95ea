// Tree: a B+-tree with unsorted leaves. Read pair.h first, then node.h.
//
// Source: I. Oukid, J. Lasperas, A. Nica, T. Willhalm, W. Lehner, "FPTree: A Hybrid SCM-DRAM
// Persistent and Concurrent B-Tree for Storage Class Memory", SIGMOD 2016. README.md lists the
// differences.
//
// Thread safety: threads may call the const functions at the same time, as long as no thread calls
// another function. Errors: a function that fails has changed nothing.
#pragma once

#include <array>
#include <cstdint>

#include "keydrome/structure.h"
#include "structures/fptree/memory.h"
#include "structures/fptree/node.h"

namespace keydrome::fptree {

class Tree {
 public:
  // Throws std::bad_alloc if out of memory.
  Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  // keydrome/structure_class.h calls these functions and says what they return.
  int put(KeydromeBytes key, KeydromeBytes payload) noexcept;                        // insert.cc
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept;                        // erase.cc
  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) noexcept;  // erase.cc
  int scan(KeydromeBytes key, KeydromeBytes payload, bool after,
           KeydromeRun& run) const noexcept;  // read.cc
  int find(KeydromeBytes key, KeydromeBytes after,
           KeydromeBuffer& payload) const noexcept;                         // read.cc
  void find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept;  // read.cc
  int check() const;                                                        // check.cc
  uint64_t statistic(uint32_t which) const;                                 // check.cc

 private:
  // Enough for 2^64 pairs, even if all inner nodes are half full.
  static constexpr uint32_t kLevelsMax = 16;
  static constexpr uint32_t kNone = Leaf::kSlots;  // no slot

  // The path from the root to a leaf.
  struct Path {
    Leaf* leaf;
    uint32_t depth;  // number of inner nodes
    std::array<Inner*, kLevelsMax> nodes;
    std::array<uint32_t, kLevelsMax> children;
  };
  // Everything that a split needs. It is allocated before the tree changes.
  struct Parts;
  // Checks a subtree.
  class Checker;

  [[gnu::always_inline]] Leaf* locate(const Probe& probe) const {
    void* node = root_;
    for (uint32_t level = height_; level > 0; --level) {
      const auto* inner = static_cast<Inner*>(node);
      node = inner->children[inner->child_for(probe, narrow_)];
    }
    return static_cast<Leaf*>(node);
  }
  Path path_to(const Probe& probe) const;
  uint32_t slot_of(const Leaf& leaf, const Probe& probe, uint8_t print) const;
  const Entry* answer(const Leaf& leaf, const Probe& probe, uint8_t print, bool after,
                      uint8_t& mark) const;

  bool make_entry(const Probe& probe, Entry& entry, uint8_t& mark) const;
  void drop_entry(const Entry& entry, uint8_t mark) const;
  uint8_t print_of(const Entry& entry) const;

  bool reserve(const Path& path, Parts& parts) const;
  bool split(const Path& path, const Probe& probe);
  void add_child(const Path& path, Fence fence, void* right, Parts& parts);
  static bool give_pairs_away(const Path& path);
  void remove_leaf(const Path& path);
  void drop_subtree(void* node, uint32_t level);
  static uint64_t count_inners(const void* node, uint32_t level);

  Memory memory_;
  const uint32_t key_bytes_;  // the size of all keys; 0 if sizes differ
  const bool narrow_;         // all keys have the same size, at most eight bytes
  uint32_t height_ = 0;       // levels of inner nodes
  void* root_;                // a leaf if height_ is 0
};

}  // namespace keydrome::fptree
