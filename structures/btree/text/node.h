// TextNode: the nodes of a tree whose keys are strings. They also serve for keys of one size other
// than 4 or 8 bytes.
//
// A node stores the common prefix of its keys once. Each slot has a *head*: the eight key bytes
// after the prefix, as a number. Each slot also has a *record* with the rest of the key and the
// payload. The records fill the *heap*, from the end of the node downwards. Most searches read only
// heads. Leaves also have a *tag* for each slot: one byte of a hash of the key. `find` compares the
// tags of a leaf, and reads only the records whose tag is that of its key.
//
// Nodes grow in steps, because most of them have short records. A slot stores the distance of its
// record from the end of the node, which does not change when the node grows. A removed record
// stays in the heap as dead bytes until the node is built again.
//
// An inner node with n children has n - 1 slots. Their keys are the separators: the shortest
// strings that divide the children. A separator is <= all keys of the child to its right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "structures/btree/memory.h"
#include "structures/btree/text/items.h"
#include "structures/btree/value.h"

namespace keydrome::btree {

// The form of a node, and access to its parts.
struct TextNode {
  static constexpr uint32_t kSlots = 64;  // items: entries of a leaf, children of an inner node
  static constexpr uint32_t kUnit = 128;
  static constexpr uint32_t kBytesMax = 4096;  // a larger node is divided if it has >= kFew items
  static constexpr uint32_t kFew = 16;
  static constexpr uint32_t kMergeMax = 48;  // largest number of items of a merged node
  // For the prefetches of a scan: the usual number of keys in a leaf, and the number of leaves that
  // are on their way at the same time.
  static constexpr uint32_t kUsual = 44;
  static constexpr uint32_t kLeavesAhead = 3;
  static constexpr uint32_t kGrowth = 256;
  static constexpr uint32_t kPrefixMax = 120;
  static constexpr uint64_t kNone = ~uint64_t{0};  // in `heads` and `summary`: no such slot

  using Item = TextItem;

  struct alignas(kLine) Node {
    uint8_t count;  // slots
    uint8_t level;
    uint8_t prefix_size;
    uint8_t units;  // size of the node, in kUnit bytes
    uint16_t heap;  // bytes of the heap
    uint16_t dead;  // bytes of the heap that no slot uses
    uint8_t prefix[kPrefixMax];
    uint64_t summary[8];  // every eighth head, so that a search reads few cache lines
    uint8_t tags[kSlots];
    uint16_t slots[kSlots];
    uint64_t heads[kSlots];  // a leaf has only the groups that are in use
  };
  static_assert(sizeof(Node) == 14 * kLine);
  static constexpr uint32_t kGroup = 8;         // heads in a cache line
  static constexpr uint32_t kHeaderLines = 12;  // before the heap of most leaves

  // A record: size of the key, size of the payload, rest of the key, payload. If kSetMark is in the
  // place of the size, a pointer to a set of payloads (value.h) is in the place of the payload.
  static constexpr uint32_t kRecordHeader = 2;
  static constexpr uint8_t kSetMark = 255;
  static constexpr uint32_t kBytesMost = kUnit * 128;  // 64 records of the largest size fit
  static_assert(sizeof(Node) + kSlots * (8 + kRecordHeader + KEYDROME_KEY_BYTES_MAX +
                                         KEYDROME_PAYLOAD_BYTES_MAX) <=
                kBytesMost);

  static uint32_t size(const Node& node) { return node.units * kUnit; }
  // Returns the number of places for heads. Those after the last head contain kNone.
  static uint32_t places(uint32_t level, uint32_t count) {
    return level > 0 ? kSlots : std::max((count + kGroup - 1) / kGroup, 1u) * kGroup;
  }
  // Returns where the bytes that are free for the heap begin.
  static uint32_t heap_begin(uint32_t level, uint32_t count) {
    const size_t heads = offsetof(Node, heads) + places(level, count) * sizeof(uint64_t);
    return static_cast<uint32_t>(heads + (level > 0 ? kSlots * sizeof(Node*) : 0));
  }
  KEYDROME_HOT Node** children(const Node& node) {
    return reinterpret_cast<Node**>(const_cast<Node*>(&node) + 1);
  }
  KEYDROME_HOT Node* child(const Node& node, uint32_t index) { return children(node)[index]; }
  KEYDROME_HOT uint8_t* record(const Node& node, uint32_t slot) {
    auto* bytes = reinterpret_cast<uint8_t*>(const_cast<Node*>(&node));
    return bytes + size(node) - node.slots[slot];
  }
  KEYDROME_HOT uint32_t rest_size(uint32_t key_size, uint32_t prefix_size) {
    return key_size > prefix_size + 8 ? key_size - prefix_size - 8 : 0;
  }
  static uint32_t stored_size(uint8_t mark) { return mark == kSetMark ? 8 : mark; }
  static uint32_t record_size(const Node& node, uint32_t slot) {
    const uint8_t* bytes = record(node, slot);
    return kRecordHeader + rest_size(bytes[0], node.prefix_size) + stored_size(bytes[1]);
  }
  static uint32_t items(const Node& node) { return node.count + (node.level > 0 ? 1u : 0u); }
  static uint32_t used(const Node& node) { return heap_begin(node.level, node.count) + node.heap; }
  static uint32_t room(const Node& node) { return size(node) - used(node); }
  static uint32_t record_size(const Node& node, const Item& item) {
    return kRecordHeader + rest_size(item.key.size, node.prefix_size) + item.stored_size();
  }
  // Returns how many free bytes a new item takes: its record, and a group of heads if all groups
  // are full.
  static uint32_t bytes_needed(const Node& node, const Item& item) {
    const uint32_t more = places(node.level, node.count + 1) - places(node.level, node.count);
    return record_size(node, item) + more * static_cast<uint32_t>(sizeof(uint64_t));
  }

  KEYDROME_HOT Value value(const Node& leaf, uint32_t slot) {
    const uint8_t* bytes = record(leaf, slot);
    const uint8_t* payload = bytes + kRecordHeader + rest_size(bytes[0], leaf.prefix_size);
    if (__builtin_expect(bytes[1] == kSetMark, 0)) {
      PayloadSet set;
      std::memcpy(&set, payload, sizeof set);
      return {{}, set};
    }
    return {{payload, bytes[1]}, 0};
  }

  // Writes prefix and head of a key. The head may reach past the end of a short key.
  KEYDROME_HOT void write_start(const Node& node, uint32_t slot, uint8_t* to) {
    const uint32_t prefix = node.prefix_size;
    if (prefix > 0) std::memcpy(to, node.prefix, prefix);
    store_big(to + prefix, node.heads[slot]);
  }
  // Writes the key of a slot to `to`, which has kKeyRoom bytes, and returns its size.
  static uint32_t key(const Node& node, uint32_t slot, uint32_t, uint8_t* to) {
    write_start(node, slot, to);
    const uint8_t* bytes = record(node, slot);
    const uint32_t rest = rest_size(bytes[0], node.prefix_size);
    if (rest > 0) std::memcpy(to + node.prefix_size + 8, bytes + kRecordHeader, rest);
    return bytes[0];
  }
};

}  // namespace keydrome::btree
