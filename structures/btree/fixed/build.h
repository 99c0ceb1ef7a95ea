// FixedBuild: lists the slots of fixed-width nodes (fixed/node.h) as items, builds nodes from such
// lists, and tests the invariants of a node. A slot is a key and a value in a node; an item is a
// copy of a slot outside of the node.
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/btree/fixed/change.h"
#include "structures/btree/memory.h"

namespace keydrome::btree {

struct FixedBuild : FixedChange {
  static void gather(const Node& node, Items& items) {
    if (node.count > 0) items.payload_size = node.payload_size;
    for (uint32_t i = 0; i < node.count; ++i) {
      items.all[items.count++] = {node.pairs[i], (node.sets >> i & 1) != 0};
    }
  }
  // Makes a node of the items [from, to). Returns nullptr if out of memory.
  static Node* build(const Memory& memory, uint32_t level, const Items& items, uint32_t from,
                     uint32_t to) {
    Node* node = allocate(memory, level, to - from, items.payload_size);
    if (node == nullptr) return nullptr;
    for (uint32_t i = from; i < to; ++i) {
      node->pairs[i - from] = items.all[i].pair;
      node->sets |= uint64_t{items.all[i].set} << (i - from);
    }
    if (level > 0) node->pairs[0].key = 0;
    refresh(*node, 0);
    return node;
  }
  // Returns how many of the items go to the first node: all of them if one node is enough,
  // otherwise half.
  static uint32_t cut(uint32_t, const Items& items) {
    return items.count <= kSlots ? items.count : items.count / 2;
  }
  static Separator separator(uint32_t, const Items& items, uint32_t at) {
    return items.all[at].pair.key;
  }
  static bool thin(const Node& node) { return node.count < kThin; }
  static bool mergeable(const Node& a, const Node& b) {
    if (a.level == 0 && a.payload_size != b.payload_size) return false;
    return a.count + b.count <= static_cast<int>(kMergeMax);
  }

  // All keys must be >= `low` and < `high`, where nullptr means no bound. The first key of an inner
  // node is an exception: it must be 0.
  static bool sound(const Node& node, const Separator* low, const Separator* high) {
    if (node.count > kSlots || node.payload_size > 8) return false;
    if ((node.sets & ~first_bits(node.count)) != 0 || (node.level > 0 && node.sets != 0)) {
      return false;
    }
    if (node.level > 0 && node.pairs[0].key != 0) return false;
    for (uint32_t i = 0; i < node.count; ++i) {
      const uint64_t key = node.pairs[i].key;
      if (i > 0 && node.pairs[i - 1].key >= key) return false;
      if ((node.level == 0 || i > 0) && !is_between(key, low, high)) return false;
    }
    return ends_are_sound(node);
  }

 private:
  static bool is_between(uint64_t key, const Separator* low, const Separator* high) {
    return (low == nullptr || *low <= key) && (high == nullptr || key < *high);
  }
  static bool ends_are_sound(const Node& node) {
    for (uint32_t i = node.count; i < kSlots; ++i) {
      if (node.pairs[i].key != kNone) return false;
    }
    for (uint32_t group = 1; group < 8; ++group) {
      if (node.summary[group - 1] != node.pairs[8 * group].key) return false;
    }
    return node.end == kNone;
  }
};

}  // namespace keydrome::btree
