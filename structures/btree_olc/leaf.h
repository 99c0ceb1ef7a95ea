// Leaf: reads and changes one leaf (node.h).
//
// The functions with a const leaf may run while another thread changes it. They touch only memory
// of the leaf, but their results count only if the version is unchanged afterwards. The others are
// for the thread that has latched the leaf.
#pragma once

#include <cstdint>

#include "keydrome/structure.h"
#include "structures/btree_olc/node.h"
#include "structures/btree_olc/pair.h"

namespace keydrome::btree_olc {

// What a search in a leaf says.
enum class Answer {
  kFound,  // the first pair after the place has the key
  kNone,   // it has another key
  kEnd,    // no pair of the leaf is after the place
  kTorn    // the leaf is being changed
};

struct Leaf {
  static constexpr int kTornSlot = -1;

  // Returns the number of pairs before the place, or kTornSlot.
  static int place(const Node& leaf, const Probe& probe);
  // Copies the payload of the first pair after the place to `payload`, if this pair has `key`.
  static Answer find(const Node& leaf, const Probe& probe, Span key, KeydromeBuffer& payload);
  // Appends the pairs after the place. kEnd: all of them. kNone: the run is full before that.
  static Answer emit(const Node& leaf, const Probe& probe, KeydromeRun& run);
  // Whether the slot has this pair.
  static bool holds(const Node& leaf, uint32_t slot, const Pair& pair);

  // Returns false if the leaf has no room for the pair.
  static bool insert(Node& leaf, uint32_t slot, const Pair& pair);
  static void erase(Node& leaf, uint32_t slot);
  // Replaces the pair of a slot by one that belongs to the same place. Returns false if the leaf has
  // no room for it in the place of the other.
  static bool assign(Node& leaf, uint32_t slot, const Pair& pair);
  // Whether the pair would fit if the pair of `slot` were erased.
  static bool fits_instead(const Node& leaf, uint32_t slot, const Pair& pair);

 private:
  static int place_in_numbers(const NumberLeaf& leaf, const Probe& probe);
  static Ties ties(const Node& leaf, uint64_t head);
  static bool emit_numbers(const NumberLeaf& leaf, uint32_t slot, KeydromeRun& run);
  static void set_head(Node& leaf, uint32_t slot, uint64_t head);
  static void refresh_summary(Node& leaf, uint32_t slot);
  static bool insert_number(NumberLeaf& leaf, uint32_t slot, const Pair& pair);
  static bool insert_record(TextNode& leaf, uint32_t slot, const Pair& pair);
  static void remove_dead_bytes(TextNode& leaf);
};

// The pair of a slot, of any kind of leaf. Its bytes may be in this object. Only for latched leaves.
class SlotPair {
 public:
  SlotPair(const Node& leaf, uint32_t slot) {
    if (leaf.kind != Kind::kNumbers) {
      text(leaf).read(slot, pair_);
      return;
    }
    store_big(bytes_, leaf.heads[slot]);
    std::memcpy(bytes_ + 8, &numbers(leaf).values[slot], 8);
    pair_ = {{bytes_, leaf.key_size}, {bytes_ + 8, leaf.payload_size}};
  }
  SlotPair(const SlotPair&) = delete;
  SlotPair& operator=(const SlotPair&) = delete;

  const Pair& get() const { return pair_; }

 private:
  Pair pair_;
  uint8_t bytes_[16];
};

}  // namespace keydrome::btree_olc
