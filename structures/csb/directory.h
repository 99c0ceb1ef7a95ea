// Directory: maps ranges of pairs to leaves. It is a CSS-tree (J. Rao, K. Ross, "Cache Conscious
// Indexing for Decision-Support in Main Memory", VLDB 1999) with a list of pending changes.
//
// A *slot* of the directory consists of a *fence* and a leaf. The leaf has the pairs from this
// fence up to the next fence. A *head* is eight bytes of a key as a number (record.h). Level 0 is
// an array of the heads of all fences. Each further level has every eighth head of the level below
// it. Eight heads are one node and one cache line. All nodes of a level are contiguous. So nodes
// need no pointers: the children of node i are the nodes 8i to 8i + 7 of the level below.
//
//   level 2   0 64 128 ..             the numbers are slots
//   level 1   0  8 16 ..
//   level 0   0  1  2  3  4  5 ..
//   fences    -  f1 f2 f3 f4 f5 ..    the first fence is smaller than all pairs
//   leaves    L0 L1 L2 L2 L4 L5 ..    slot 3 is dead: its leaf was merged into L2
//
// Such arrays cannot grow in the middle. If a leaf splits, the fence of its new right half goes
// into the sorted list of pending slots. Each directory slot has a bit, which is set if pending
// slots belong between it and the next directory slot. A search that ends at a slot whose bit is
// set also searches the list. If a leaf is merged, its slot becomes dead, and refers to the leaf
// that has taken the pairs. If there are too many pending or dead slots, Tree::rebuild makes a new
// directory. The limit is about 4 * sqrt(slots). A larger limit would make each change slower, and
// a smaller one would cause more rebuilds.
//
// Heads start after the bytes that all fences share. So keys with a long common prefix seldom need
// a full comparison. Keys of at most eight bytes need no such skip, because a head has all of them.
// lookup.h searches the directory.
//
// Thread safety: the const functions only read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "structures/csb/leaf.h"
#include "structures/csb/memory.h"
#include "structures/csb/record.h"

namespace keydrome::csb {

// A slot that is not yet in the directory.
struct Pending {
  Record* fence;
  Leaf* leaf;
};

// The position of a pair in the directory.
struct Place {
  Leaf* leaf;
  uint32_t slot;  // the last directory slot whose fence is not larger than the pair
  uint32_t item;  // the number of pending slots whose fence is not larger than the pair
};

class Directory {
 public:
  static constexpr uint32_t kFanout = 8;

  // Makes a directory whose slots are still empty. Returns nullptr if out of memory.
  static Directory* create(const Memory& memory, uint32_t slots);
  // Frees the directory, but neither fences nor leaves.
  static void destroy(const Memory& memory, Directory* directory);
  // Computes the heads of all levels from the fences.
  void fill_heads();

  Leaf* find(const Probe& probe) const;    // returns the leaf to which the probe belongs
  Place locate(const Probe& probe) const;  // returns the leaf, and its place in the directory

  // The steps of `find`, for lookup.h.

  uint64_t head_for(const Probe& probe) const {
    return skipped_ == 0 ? probe.head : head_after_skipped(probe);
  }
  // Returns the heads of a node, at the beginning of a cache line.
  const uint64_t* node(uint32_t level, uint32_t number) const {
    return heads_[level] + number * kFanout;
  }
  // Returns the number of heads of a level.
  uint32_t size(uint32_t level) const { return sizes_[level]; }
  // Returns the last slot whose fence is not larger than the probe. `slot` must be the last slot
  // whose head is not larger than `head`.
  uint32_t settle(uint32_t slot, uint64_t head, const Probe& probe) const {
    return heads_[0][slot] == head ? settle_equal(slot, head, probe) : slot;
  }
  // Returns the leaf of a probe. `slot` is what settle() has returned.
  Leaf* leaf_of(uint32_t slot, const Probe& probe) const {
    // The usual case. The bit costs less than a search of the pending list.
    if (!is_followed(slot)) return leaves_[slot];
    return locate_pending(slot, probe).leaf;
  }
  [[gnu::always_inline]] void prefetch_leaf_of(uint32_t slot) const {
    __builtin_prefetch(&leaves_[slot]);
  }

  uint32_t slots() const { return slots_; }
  uint32_t levels() const { return levels_; }
  Record*& fence(uint32_t slot) { return fences_[slot]; }
  const Record* fence(uint32_t slot) const { return fences_[slot]; }
  Leaf*& leaf(uint32_t slot) { return leaves_[slot]; }
  Leaf* leaf(uint32_t slot) const { return leaves_[slot]; }

  uint32_t pending_count() const { return pending_count_; }
  const Pending& pending(uint32_t item) const { return pending_[item]; }
  // Returns the last directory slot whose fence is not larger than that of the pending slot.
  uint32_t pending_after(uint32_t item) const { return afters_[item]; }
  bool is_full() const { return pending_count_ == changes_max_; }
  void insert_pending(uint32_t item, uint32_t after, const Pending& pending);
  void erase_pending(uint32_t item);

  void count_dead() { ++dead_; }
  bool has_many_dead() const { return dead_ > changes_max_; }

  // Return true if all levels agree with the fences, and all bits with the pending list. For
  // check().
  bool has_right_heads() const;
  bool has_right_bits() const;

 private:
  // 8^11 slots are more than a 32-bit number can count.
  static constexpr uint32_t kLevelsMax = 11;

  Directory() = default;

  uint64_t head_after_skipped(const Probe& probe) const;
  uint32_t settle_equal(uint32_t slot, uint64_t head, const Probe& probe) const;
  Place locate_pending(uint32_t slot, const Probe& probe) const;
  // A slot is *followed* if pending slots belong after it.
  bool is_followed(uint32_t slot) const { return (followed_[slot / 64] >> slot % 64 & 1) != 0; }
  uint64_t head_of_fence(uint32_t slot) const;

  uint32_t slots_ = 0;
  uint32_t levels_ = 0;
  uint32_t skipped_ = 0;  // leading bytes that the keys of all fences share
  uint32_t pending_count_ = 0;
  uint32_t changes_max_ = 0;  // largest number of pending slots, and of dead slots
  uint32_t dead_ = 0;
  size_t bytes_ = 0;
  std::array<uint32_t, kLevelsMax> sizes_{};  // heads of each level
  std::array<uint64_t*, kLevelsMax> heads_{};
  Record** fences_ = nullptr;
  Leaf** leaves_ = nullptr;
  Pending* pending_ = nullptr;
  uint32_t* afters_ = nullptr;    // pending_after() of each item; apart, as searches read it most
  uint64_t* followed_ = nullptr;  // one bit for each slot: the slot is followed
};

}  // namespace keydrome::csb
