// TextBuild: lists the slots of text nodes (text/node.h) as items, and builds nodes from such
// lists. A slot is a key with a value or child in a node; an item is a copy of a slot outside of
// the node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "structures/btree/memory.h"
#include "structures/btree/text/change.h"
#include "structures/btree/text/items.h"
#include "structures/btree/text/node.h"

namespace keydrome::btree {

struct TextBuild : TextChange {
  static void gather(const Node& node, TextItems& all) {
    const bool inner = node.level > 0;
    if (inner) all.add({{}, {}, 0, 0, child(node, 0)});
    for (uint32_t i = 0; i < node.count; ++i) {
      uint8_t* to = all.reserve();
      const uint32_t key_size = key(node, i, 0, to);
      const Value held = value(node, i);
      all.add({{to, key_size},
               held.payload,
               held.set,
               node.tags[i],
               inner ? child(node, i + 1) : nullptr});
    }
  }
  static uint32_t common_prefix(const TextItems& all, uint32_t from, uint32_t to) {
    if (from >= to) return 0;
    const Span& a = all.all[from].key;
    const Span& b = all.all[to - 1].key;
    const uint32_t most = std::min({a.size, b.size, kPrefixMax});
    return static_cast<uint32_t>(std::mismatch(a.data, a.data + most, b.data).first - a.data);
  }
  static uint32_t heap_bytes(const TextItems& all, uint32_t from, uint32_t to, uint32_t prefix) {
    uint32_t bytes = 0;
    for (uint32_t i = from; i < to; ++i) {
      bytes += kRecordHeader + rest_size(all.all[i].key.size, prefix) + all.all[i].stored_size();
    }
    return bytes;
  }
  static Node* build(const Memory& memory, uint32_t level, const TextItems& all, uint32_t from,
                     uint32_t to) {
    const uint32_t first = from + (level > 0 ? 1u : 0u);  // the first child has no separator
    const uint32_t prefix = common_prefix(all, first, to);
    const uint32_t bytes = heap_begin(level, to - first) + heap_bytes(all, first, to, prefix);
    Node* node = allocate(memory, level, bytes + kUnit / 2);
    if (node == nullptr) return nullptr;
    node->prefix_size = static_cast<uint8_t>(prefix);
    if (prefix > 0) std::memcpy(node->prefix, all.all[first].key.data, prefix);
    if (level > 0) children(*node)[0] = static_cast<Node*>(all.all[from].child);
    for (uint32_t i = first; i < to; ++i) {
      if (level > 0) children(*node)[i - from] = static_cast<Node*>(all.all[i].child);
      encode(*node, node->count, all.all[i]);
      ++node->count;
    }
    seal(*node);
    return node;
  }
  static uint32_t cut(uint32_t level, const TextItems& all) {
    const uint32_t first = level > 0 ? 1 : 0;
    const uint32_t prefix = common_prefix(all, first, all.count);
    const uint32_t bytes = heap_bytes(all, first, all.count, prefix);
    const uint32_t all_bytes = heap_begin(level, all.count) + bytes;
    if (all.count <= kSlots && (all_bytes <= kBytesMax || all.count < kFew)) return all.count;
    // The first node gets half of the bytes, but at least a quarter and at most three quarters of
    // the items.
    uint32_t items = first;
    for (uint32_t left = 0; items < all.count && left < bytes / 2; ++items) {
      left += heap_bytes(all, items, items + 1, prefix);
    }
    return std::clamp(items, all.count / 4, all.count - all.count / 4);
  }
  static TextSeparator separator(uint32_t level, const TextItems& all, uint32_t at) {
    const Span right = all.all[at].key;
    if (level > 0) return TextSeparator::of(right);
    return TextSeparator::between(all.all[at - 1].key, right);
  }
  static bool thin(const Node& node) {
    return items(node) < kFew && node.heap - node.dead < static_cast<int>(kBytesMax / 4);
  }
  static bool mergeable(const Node& a, const Node& b) {
    // If the two nodes have no common prefix, each record of the merged node also stores the prefix
    // of its old node.
    const auto bytes = [](const Node& node) -> uint32_t {
      return static_cast<uint32_t>(node.heap - node.dead) + node.count * node.prefix_size;
    };
    return items(a) + items(b) <= kMergeMax &&
           heap_begin(a.level, items(a) + items(b)) + bytes(a) + bytes(b) <= kBytesMax * 3 / 4;
  }
};

}  // namespace keydrome::btree
