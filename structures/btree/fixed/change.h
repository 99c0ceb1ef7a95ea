// FixedChange: changes one node of a B+-tree whose keys all have the same size, 4 or 8 bytes
// (fixed/node.h). Some functions move pairs between two neighbouring nodes. A node has 63 slots,
// each for a key and a value, in groups of eight. Its *summary* repeats the first key of each group
// but the first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "structures/btree/fixed/node.h"
#include "structures/btree/memory.h"

namespace keydrome::btree {

struct FixedChange : FixedNode {
  // Makes a node of `count` slots. The caller sets their keys and the summary. Returns nullptr if
  // out of memory.
  static Node* allocate(const Memory& memory, uint32_t level, uint32_t count,
                        uint8_t payload_size) {
    auto* node = static_cast<Node*>(memory.allocate(sizeof(Node), kLine));
    if (node == nullptr) return nullptr;
    node->count = static_cast<uint8_t>(count);
    node->level = static_cast<uint8_t>(level);
    node->payload_size = payload_size;
    node->end = kNone;
    node->sets = 0;
    for (uint32_t i = count; i < kSlots; ++i) node->pairs[i].key = kNone;
    return node;
  }
  static Node* make(const Memory& memory, uint32_t level) {
    Node* node = allocate(memory, level, 0, 0);
    if (node != nullptr) refresh(*node, 0);
    return node;
  }
  static void drop(const Memory& memory, Node* node) { memory.retire(node, sizeof(Node), kLine); }

  // Updates the summary after the slots from `slot` on have changed.
  static void refresh(Node& node, uint32_t slot) {
    for (uint32_t group = std::max(1u, (slot + 7) / 8); group < 8; ++group) {
      node.summary[group - 1] = node.pairs[8 * group].key;
    }
  }
  // Returns false if the node is full.
  static bool insert(Node& node, uint32_t slot, const Item& item) {
    if (node.count == kSlots) return false;
    Pair* at = node.pairs + slot;
    std::memmove(at + 1, at, (node.count - slot) * sizeof(Pair));
    *at = item.pair;
    ++node.count;
    const uint64_t low = (uint64_t{1} << slot) - 1;
    node.sets = (node.sets & low) | (node.sets & ~low) << 1 | uint64_t{item.set} << slot;
    refresh(node, slot);
    return true;
  }
  static void erase(Node& node, uint32_t slot) {
    Pair* at = node.pairs + slot;
    --node.count;
    std::memmove(at, at + 1, (node.count - slot) * sizeof(Pair));
    node.pairs[node.count].key = kNone;
    const uint64_t low = (uint64_t{1} << slot) - 1;
    node.sets = (node.sets & low) | (node.sets >> 1 & ~low);
    refresh(node, slot);
  }
  static bool assign(Node& leaf, uint32_t slot, const Value& value) {
    leaf.pairs[slot].value = packed(value);
    const uint64_t bit = uint64_t{1} << slot;
    leaf.sets = value.set != 0 ? leaf.sets | bit : leaf.sets & ~bit;
    return true;
  }
  static void assign_child(Node& node, uint32_t slot, Node* child) {
    node.pairs[slot].value = address(child);
  }
  // If the node loses its only child, the caller must drop the node.
  static void erase_child(Node& node, uint32_t slot) {
    erase(node, slot);
    if (slot == 0 && node.count > 0) node.pairs[0].key = 0;
  }
  static bool insert_child(Node& node, uint32_t slot, const Separator& separator, Node* child) {
    return insert(node, slot, inner_item(separator, child));
  }
  static bool assign_separator(Node& node, uint32_t slot, const Separator& separator) {
    node.pairs[slot].key = separator;
    refresh(node, slot);
    return true;
  }
  // Makes a leaf with copies of the slots from `slot` on. They also stay in the old leaf until
  // truncate() removes them.
  static Node* copy_from(const Memory& memory, const Node& leaf, uint32_t slot) {
    Node* node = allocate(memory, 0, leaf.count - slot, leaf.payload_size);
    if (node == nullptr) return nullptr;
    std::memcpy(node->pairs, leaf.pairs + slot, node->count * sizeof(Pair));
    node->sets = slot < 64 ? leaf.sets >> slot : 0;
    refresh(*node, 0);
    return node;
  }
  static void truncate(Node& leaf, uint32_t count) {
    for (uint32_t i = count; i < leaf.count; ++i) leaf.pairs[i].key = kNone;
    leaf.sets &= first_bits(count);
    leaf.count = static_cast<uint8_t>(count);
    refresh(leaf, count);
  }
  static uint64_t first_bits(uint32_t count) { return (uint64_t{1} << count) - 1; }
  static Separator first_key(const Node& leaf) { return leaf.pairs[0].key; }
  static Separator key_of(const Item& item) { return item.pair.key; }

  static bool can_share(const Node& giver, const Node& taker) {
    return taker.count < kShareMax && taker.payload_size == giver.payload_size;
  }
  // A full leaf moves pairs to a neighbour. It moves half the difference between the numbers of
  // pairs of the two leaves, plus one pair.
  static void give_right(Node& full, Node& right) {
    const uint32_t given = (kSlots - right.count) / 2u + 1;
    const uint32_t keep = kSlots - given;
    std::memmove(right.pairs + given, right.pairs, right.count * sizeof(Pair));
    std::memcpy(right.pairs, full.pairs + keep, given * sizeof(Pair));
    right.sets = right.sets << given | full.sets >> keep;
    right.count = static_cast<uint8_t>(right.count + given);
    refresh(right, 0);
    truncate(full, keep);
  }
  static void give_left(Node& left, Node& full) {
    const uint32_t given = (kSlots - left.count) / 2u + 1;
    const uint32_t keep = kSlots - given;
    std::memcpy(left.pairs + left.count, full.pairs, given * sizeof(Pair));
    left.sets |= (full.sets & first_bits(given)) << left.count;
    left.count = static_cast<uint8_t>(left.count + given);
    std::memmove(full.pairs, full.pairs + given, keep * sizeof(Pair));
    full.sets >>= given;
    refresh(left, 0);
    truncate(full, keep);
    refresh(full, 0);
  }
};

}  // namespace keydrome::btree
