// TextChange: changes one node of a B+-tree with string keys (text/node.h): adds, removes and
// replaces items, and copies the node if it must grow.
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/btree/memory.h"
#include "structures/btree/text/node.h"

namespace keydrome::btree {

struct TextChange : TextNode {
  static Node* allocate(const Memory& memory, uint32_t level, uint32_t bytes) {
    const uint32_t units = (bytes + kUnit - 1) / kUnit;
    auto* node = static_cast<Node*>(memory.allocate(units * kUnit, kLine));
    if (node == nullptr) return nullptr;
    node->count = 0;
    node->level = static_cast<uint8_t>(level);
    node->prefix_size = 0;
    node->units = static_cast<uint8_t>(units);
    node->heap = 0;
    node->dead = 0;
    return node;
  }
  static Node* make(const Memory& memory, uint32_t level) {
    Node* node = allocate(memory, level, heap_begin(level, 0) + kUnit);
    if (node != nullptr) seal(*node);
    return node;
  }
  static void drop(const Memory& memory, Node* node) { memory.retire(node, size(*node), kLine); }

  static void seal(Node& node) {
    std::fill(node.heads + node.count, node.heads + places(node.level, node.count), kNone);
    std::fill(node.tags + node.count, node.tags + kSlots, uint8_t{0});
    summarise(node);
  }
  static void summarise(Node& node) {
    for (uint32_t group = 1; group < 8; ++group) node.summary[group - 1] = first_head(node, group);
    node.summary[7] = kNone;
  }
  static uint64_t first_head(const Node& node, uint32_t group) {
    return group * kGroup < node.count ? node.heads[group * kGroup] : kNone;
  }
  static bool accepts(const Node& node, const Item& item) {
    return items(node) < kSlots && item.key.size >= node.prefix_size &&
           (node.prefix_size == 0 ||
            std::memcmp(item.key.data, node.prefix, node.prefix_size) == 0);
  }
  static bool insert(Node& node, uint32_t slot, const Item& item) {
    if (!accepts(node, item) || bytes_needed(node, item) > room(node)) return false;
    open(node, slot);
    encode(node, slot, item);
    summarise(node);
    return true;
  }
  static void open(Node& node, uint32_t slot) {
    const uint32_t tail = node.count - slot;
    std::fill(node.heads + places(node.level, node.count),
              node.heads + places(node.level, node.count + 1u), kNone);
    std::memmove(node.heads + slot + 1, node.heads + slot, tail * sizeof node.heads[0]);
    std::memmove(node.slots + slot + 1, node.slots + slot, tail * sizeof node.slots[0]);
    std::memmove(node.tags + slot + 1, node.tags + slot, tail);
    ++node.count;
  }
  static void encode(Node& node, uint32_t slot, const Item& item) {
    const uint32_t rest = rest_size(item.key.size, node.prefix_size);
    node.heap = static_cast<uint16_t>(node.heap + record_size(node, item));
    node.slots[slot] = node.heap;
    node.heads[slot] = load_head(item.key, node.prefix_size);
    node.tags[slot] = item.tag;
    uint8_t* to = record(node, slot);
    to[0] = static_cast<uint8_t>(item.key.size);
    if (rest > 0) std::memcpy(to + kRecordHeader, item.key.data + node.prefix_size + 8, rest);
    write_value(to, kRecordHeader + rest, {item.payload, item.set});
  }
  static void write_value(uint8_t* record, uint32_t at, const Value& value) {
    if (value.set != 0) {
      record[1] = kSetMark;
      std::memcpy(record + at, &value.set, sizeof value.set);
    } else {
      record[1] = static_cast<uint8_t>(value.payload.size);
      copy_bytes(record + at, value.payload.data, value.payload.size);
    }
  }
  static void erase(Node& node, uint32_t slot) {
    node.dead = static_cast<uint16_t>(node.dead + record_size(node, slot));
    --node.count;
    const uint32_t tail = node.count - slot;
    std::memmove(node.heads + slot, node.heads + slot + 1, tail * sizeof node.heads[0]);
    std::memmove(node.slots + slot, node.slots + slot + 1, tail * sizeof node.slots[0]);
    std::memmove(node.tags + slot, node.tags + slot + 1, tail);
    node.heads[node.count] = kNone;
    node.tags[node.count] = 0;
    if (node.count == 0) node.heap = node.dead = 0;
    summarise(node);
  }
  // Replaces the value of a slot in its record. Returns false if the record is too short for it.
  static bool assign(Node& leaf, uint32_t slot, const Value& value) {
    uint8_t* to = record(leaf, slot);
    const uint32_t had = stored_size(to[1]);
    const uint32_t needs = value.set != 0 ? 8 : value.payload.size;
    if (needs > had) return false;
    write_value(to, kRecordHeader + rest_size(to[0], leaf.prefix_size), value);
    leaf.dead = static_cast<uint16_t>(leaf.dead + had - needs);
    return true;
  }
  static void assign_child(Node& node, uint32_t index, Node* child) {
    children(node)[index] = child;
  }
  static void erase_child(Node& node, uint32_t index) {
    Node** list = children(node);
    std::memmove(list + index, list + index + 1, (node.count - index) * sizeof(Node*));
    if (node.count > 0) erase(node, index > 0 ? index - 1 : 0);
  }
  static bool insert_child(Node& node, uint32_t index, const TextSeparator& separator,
                           Node* child) {
    Node** list = children(node);
    const uint32_t later = items(node) - index;
    if (!insert(node, index - 1, separator.item(nullptr))) return false;
    std::memmove(list + index + 1, list + index, later * sizeof(Node*));
    list[index] = child;
    return true;
  }
  // Replaces the separator to the left of a child.
  static bool assign_separator(Node& node, uint32_t index, const TextSeparator& separator) {
    const Item item = separator.item(nullptr);
    if (!accepts(node, item) || bytes_needed(node, item) > room(node)) return false;
    erase(node, index - 1);
    return insert(node, index - 1, item);
  }
  static TextSeparator separator_of(const Node& node, uint32_t index) {
    uint8_t bytes[kKeyRoom];
    return TextSeparator::of({bytes, key(node, index - 1, 0, bytes)});
  }
  static Item inner_item(const TextSeparator& separator, Node* child) {
    return separator.item(child);
  }

  // Returns a larger copy of the node into which the item fits, or nullptr if out of memory.
  static Node* grown(const Memory& memory, const Node& node, const Item& item) {
    const uint32_t more = std::max(bytes_needed(node, item), kGrowth);
    Node* copy = allocate(memory, node.level, size(node) + more);
    if (copy == nullptr) return nullptr;
    const uint8_t units = copy->units;
    std::memcpy(copy, &node, heap_begin(node.level, node.count));
    copy->units = units;
    std::memcpy(reinterpret_cast<uint8_t*>(copy) + size(*copy) - node.heap,
                reinterpret_cast<const uint8_t*>(&node) + size(node) - node.heap, node.heap);
    return copy;
  }
  // Returns true if a larger copy of the node would have room for the item, and the node has no
  // dead bytes (bytes of removed records). A node with dead bytes is built again instead, which
  // frees these bytes.
  static bool may_grow(const Node& node, const Item& item) {
    return accepts(node, item) && node.dead == 0 &&
           (used(node) + bytes_needed(node, item) <= kBytesMax || node.count < kFew);
  }
};

}  // namespace keydrome::btree
