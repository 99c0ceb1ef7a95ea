// Fixed: the layout of a tree whose keys all have 4 or all have 8 bytes. fixed/node.h describes the
// nodes: a node has up to 63 pairs in groups of eight, and a *summary*, which repeats the first key
// of each group but the first. The base classes change nodes. This class searches and reads them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "structures/btree/fixed/build.h"
#include "structures/btree/fixed/node.h"
#include "structures/btree/memory.h"
#include "structures/btree/payloads.h"
#include "structures/btree/value.h"

namespace keydrome::btree {

template <class Search>
struct Fixed : FixedBuild {
  using FixedNode::Item;
  using FixedNode::Items;
  using FixedNode::Node;
  using Probe = uint64_t;
  using Separator = uint64_t;
  using Sets = Payloads<Search>;
  static constexpr bool kGrows = false;

  // Returns the key as a number. A key that is too short is padded with zeros, and one that is too
  // long is cut.
  KEYDROME_HOT Probe probe(Span key, uint32_t key_bytes) {
    if (key_bytes == 8 && key.size == 8) return load_big(key.data);
    return key_bytes == 8 ? load_head(key, 0) : load_head(key, 0) >> 32;
  }
  KEYDROME_HOT bool holds(Span key, uint32_t key_bytes) { return key.size == key_bytes; }
  static bool fits_inline(const Node& leaf, uint32_t payload_size) {
    return leaf.payload_size == payload_size;
  }
  // Sets the payload size of an empty leaf.
  static void adopt(Node& leaf, uint32_t payload_size) {
    if (leaf.count == 0) leaf.payload_size = static_cast<uint8_t>(std::min(payload_size, 8u));
  }
  static Item leaf_item(Probe key, const Value& value) {
    return {{key, FixedNode::packed(value)}, value.set != 0};
  }

  // Returns the number of keys that are < `key`, or <= `key` if `or_equal`.
  template <bool or_equal>
  KEYDROME_HOT uint32_t rank(const Node& node, uint64_t key) {
    // Unused places contain the largest key. A search for this key must not count them.
    if (__builtin_expect(key == FixedNode::kNone, 0)) return rank_of_largest<or_equal>(node);
    const uint32_t from = 8 * Search::summary_at_most(node.summary, key);
    return from + Search::template pairs_below<or_equal>(node.pairs + from, key);
  }
  template <bool or_equal>
  static uint32_t rank_of_largest(const Node& node) {
    if (or_equal || node.count == 0) return node.count;
    return node.count - (node.pairs[node.count - 1].key == FixedNode::kNone ? 1 : 0);
  }
  KEYDROME_HOT uint32_t place(const Node& node, Probe key, bool& same) {
    const uint32_t slot = rank<false>(node, key);
    same = slot < node.count && node.pairs[slot].key == key;
    return slot;
  }
  KEYDROME_HOT bool lookup(const Node& leaf, Probe key, Value& value) {
    bool same;
    const uint32_t slot = place(leaf, key, same);
    if (same) value = FixedNode::value(leaf, slot);
    return same;
  }
  KEYDROME_HOT uint32_t child_index(const Node& node, Probe key) {
    return rank<true>(node, key) - 1;
  }

  // Prefetches all lines of a child on the lowest two levels, so that the search waits once for the
  // child, and not for its summary and then for a group. The nodes of higher levels are few, so
  // they are in the caches.
  KEYDROME_HOT void ask(const Node& parent, uint32_t, const Node* child, Probe) {
    if (parent.level <= 2) ask_lines(child, 0, FixedNode::kLines);
  }
  KEYDROME_HOT void ask_to_write(const Node* leaf) { ask_lines<1>(leaf, 0, FixedNode::kLines); }
  KEYDROME_HOT void ask_to_scan(const Node* leaf) { ask_lines(leaf, 0, FixedNode::kLines); }
  // For lookups in a batch. ask_first() prefetches the summary. When it has arrived, ask_second()
  // prefetches the group that the summary selects.
  KEYDROME_HOT void ask_first(const Node* node) { __builtin_prefetch(node); }
  KEYDROME_HOT void ask_second(const Node& node, Probe key) {
    const Pair* group = node.pairs + 8 * Search::summary_at_most(node.summary, key);
    __builtin_prefetch(group);
    __builtin_prefetch(group + 4);
  }

  // Appends the pairs from a slot on to the run (the caller's buffer). Stops at the first slot with
  // a set of payloads (several payloads of one key), or at the end of the leaf. Returns false if
  // the run becomes full first. Sets `slot` to the first slot that has not been appended.
  KEYDROME_HOT bool emit(const Node& leaf, uint32_t& slot, uint32_t key_bytes, KeydromeRun& run) {
    const uint64_t later_sets = leaf.sets >> slot;
    const uint32_t plain =
        later_sets == 0 ? FixedNode::kSlots : static_cast<uint32_t>(__builtin_ctzll(later_sets));
    const uint32_t ready = std::min(leaf.count - slot, plain);
    const uint32_t bytes = 2 + key_bytes + leaf.payload_size;
    const uint32_t room = std::min(run.limit - run.pairs, (run.capacity - run.size) / bytes);
    const uint32_t count = std::min(ready, room);
    auto* to = static_cast<uint8_t*>(run.data) + run.size;
    const Pair* pair = leaf.pairs + slot;
    const Pair* const end = pair + count;
    if (key_bytes == 8 && leaf.payload_size == 8) {
      for (; pair < end; ++pair, to += 18) {
        to[0] = to[1] = 8;
        store_big(to + 2, pair->key);
        std::memcpy(to + 10, &pair->value, 8);
      }
    } else {
      for (; pair < end; ++pair, to += bytes) {
        to[0] = static_cast<uint8_t>(key_bytes);
        to[1] = leaf.payload_size;
        FixedNode::write_key(to + 2, pair->key, key_bytes);
        copy_bytes(to + 2 + key_bytes, &pair->value, leaf.payload_size);
      }
    }
    run.size += count * bytes;
    run.pairs += count;
    slot += count;
    return count == ready;
  }
};

}  // namespace keydrome::btree
