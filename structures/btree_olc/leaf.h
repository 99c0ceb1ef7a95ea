// Leaf: functions that change one leaf (node.h). Only the thread that has latched the leaf may call
// them.
#pragma once

#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"
#include "structures/btree_olc/node.h"
#include "structures/btree_olc/pair.h"

namespace keydrome::btree_olc {

struct Leaf {
  // Returns true if the leaf has the pair. `slot` must be the slot where the pair is or would be.
  static bool holds(const Node& leaf, uint32_t slot, const Pair& pair) {
    if (slot >= leaf.count) return false;
    if (leaf.kind != Kind::kNumbers) return holds_record(text(leaf), slot, pair);
    const uint32_t size = leaf.payload_size;
    if (leaf.heads[slot] != load_head(pair.key, 0) || size != pair.payload.size) return false;
    return size == 0 || std::memcmp(&numbers(leaf).values[slot], pair.payload.data, size) == 0;
  }

  // Returns false if the leaf has no room for the pair.
  static bool insert(Node& leaf, uint32_t slot, const Pair& pair);
  static void erase(Node& leaf, uint32_t slot);
  // Replaces the pair of a slot by a pair with the same key that belongs in the same slot. Returns
  // false, and changes nothing, if the new payload has another size than the old one.
  static bool assign(Node& leaf, uint32_t slot, const Pair& pair);
  // Returns true if the leaf would have room for the pair after erasing the pair of `slot`.
  static bool fits_instead(const Node& leaf, uint32_t slot, const Pair& pair);

 private:
  static bool holds_record(const TextNode& leaf, uint32_t slot, const Pair& pair);
  static void set_head(Node& leaf, uint32_t slot, uint64_t head);
  static void refresh_summary(Node& leaf, uint32_t slot);
  static bool insert_number(NumberLeaf& leaf, uint32_t slot, const Pair& pair);
  static bool insert_record(TextNode& leaf, uint32_t slot, const Pair& pair);
  static void remove_dead_bytes(TextNode& leaf);
};

// The pair of a slot, of any kind of leaf. Its bytes may be in this object, so the object must live
// as long as they are used. The leaf must be latched.
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
  Pair pair_{};
  uint8_t bytes_[16];
};

}  // namespace keydrome::btree_olc
