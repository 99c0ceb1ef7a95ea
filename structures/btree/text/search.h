// TextSearch: searches text nodes (text/node.h), and prefetches what a search will read. A node
// stores the common *prefix* of its keys once. The next eight bytes of each key are its *head*, a
// number.
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/btree/memory.h"
#include "structures/btree/search/plain.h"
#include "structures/btree/text/check.h"
#include "structures/btree/text/node.h"

namespace keydrome::btree {

template <class Search>
struct TextSearch : TextCheck {
  // Returns 0 if the key begins with the prefix of the node. Otherwise returns < 0 if the key is
  // smaller than all keys of the node, and > 0 if it is larger than all.
  KEYDROME_HOT int against_prefix(const Node& node, Span key) {
    const uint32_t shorter = std::min<uint32_t>(node.prefix_size, key.size);
    const int order = Search::compare(key.data, node.prefix, shorter);
    if (__builtin_expect(order != 0, 0)) return order;
    return shorter == node.prefix_size ? 0 : -1;
  }
  // Compares the key of a slot with a key that has the same prefix and head.
  KEYDROME_HOT int compare_rest(const Node& node, uint32_t slot, Span key) {
    const uint8_t* bytes = record(node, slot);
    const uint32_t skip = node.prefix_size + 8;
    const uint32_t own = rest_size(bytes[0], node.prefix_size);
    const uint32_t other = rest_size(key.size, node.prefix_size);
    const uint32_t both = std::min(own, other);
    const int order = both == 0 ? 0 : Search::compare(bytes + kRecordHeader, key.data + skip, both);
    return order != 0 ? order : int{bytes[0]} - static_cast<int>(key.size);
  }
  // The node must have at least one slot.
  template <bool or_equal>
  KEYDROME_HOT uint32_t head_rank(const Node& node, uint64_t head) {
    uint32_t group;
    if constexpr (or_equal) {
      // Unused places of the summary contain the largest number. A search for this number would
      // count them, too, and choose a group for which the leaf has no memory. Hence the minimum.
      const uint32_t last = (node.count - 1u) / TextNode::kGroup;
      group = std::min(Search::summary_at_most(node.summary, head), last);
    } else {
      group = Search::template heads_below<false>(node.summary, head);
    }
    const uint32_t from = TextNode::kGroup * group;
    const uint32_t below = from + Search::template heads_below<or_equal>(node.heads + from, head);
    return std::min<uint32_t>(below, node.count);
  }
  // Returns the first slot whose key is not smaller than `key`. Sets `same` to true if its key is
  // equal.
  KEYDROME_HOT uint32_t place(const Node& node, Span key, bool& same) {
    same = false;
    const int order = against_prefix(node, key);
    if (__builtin_expect(order != 0, 0)) return order < 0 ? 0 : node.count;
    const uint64_t head = load_head(key, node.prefix_size);
    uint32_t low = head_rank<false>(node, head);
    if (low == node.count || node.heads[low] != head) return low;
    uint32_t high = head_rank<true>(node, head);
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      const int rest = compare_rest(node, middle, key);
      if (rest == 0) {
        same = true;
        return middle;
      }
      if (rest < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  KEYDROME_HOT bool lookup(const Node& leaf, Span key, Value& value) {
    uint64_t mask = Search::match(leaf.tags, tag_of(key));
    mask &= leaf.count == 64 ? kNone : (uint64_t{1} << leaf.count) - 1;
    for (; mask != 0; mask &= mask - 1) {
      const auto slot = static_cast<uint32_t>(__builtin_ctzll(mask));
      // The end of the record is often in another cache line than its beginning.
      __builtin_prefetch(record(leaf, slot) + kRecordHeader +
                         rest_size(key.size, leaf.prefix_size));
      if (compare_rest(leaf, slot, key) != 0) continue;
      if (leaf.heads[slot] != load_head(key, leaf.prefix_size)) continue;
      if (against_prefix(leaf, key) != 0) continue;
      value = TextNode::value(leaf, slot);
      return true;
    }
    return false;
  }
  KEYDROME_HOT uint32_t child_index(const Node& node, Span key) {
    bool same;
    const uint32_t slot = place(node, key, same);
    return slot + static_cast<uint32_t>(same);
  }

  // Prefetches the beginning of a child, so that the search waits once for all lines that it may
  // read before the records or children.
  KEYDROME_HOT void ask(const Node&, uint32_t, const Node* child, Span) {
    ask_lines(child, 0, kHeaderLines);
  }
  KEYDROME_HOT void ask_to_write(const Node* leaf) { ask_lines<1>(leaf, 0, kHeaderLines); }
  KEYDROME_HOT void ask_to_scan(const Node* leaf) { ask_lines(leaf, 0, kHeaderLines); }
  KEYDROME_HOT void ask_first(const Node* node) { ask_lines(node, 0, 6); }
  KEYDROME_HOT void ask_second(const Node& node, Span key) {
    if (node.level == 0) {
      const uint64_t mask = Search::match(node.tags, tag_of(key));
      if (mask == 0) return;
      const auto slot = static_cast<uint32_t>(__builtin_ctzll(mask));
      __builtin_prefetch(&node.heads[slot]);
      if (slot < node.count) __builtin_prefetch(record(node, slot));
      return;
    }
    if (against_prefix(node, key) != 0) return;
    const uint32_t slot =
        8 * Search::summary_at_most(node.summary, load_head(key, node.prefix_size));
    __builtin_prefetch(&node.heads[slot]);
    __builtin_prefetch(&children(node)[slot]);
    __builtin_prefetch(&children(node)[slot] + 7);
  }
};

}  // namespace keydrome::btree
