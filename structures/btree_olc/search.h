// NodeSearch: finds the place of a probe in a node (node.h). A place is between two pairs (Probe in
// pair.h). A *head* is eight bytes of a pair, as a number. `Search` (search/) compares heads. Where
// heads are equal, NodeSearch compares pairs.
//
// The functions may run while another thread changes the leaf. They touch only memory of the leaf,
// but their results count only if the version of the leaf is unchanged afterwards.
#pragma once

#include <algorithm>
#include <cstdint>

#include "keydrome/structure.h"
#include "structures/btree_olc/node.h"
#include "structures/btree_olc/pair.h"

namespace keydrome::btree_olc {

// The result of a search in a leaf.
enum class Answer {
  kFound,  // the first pair after the place has the key
  kNone,   // this pair has another key; if emit() returns kNone, the run is full
  kEnd,    // no pair of the leaf is after the place
  kTorn    // another thread changes the leaf
};

template <class Search>
struct NodeSearch {
  static constexpr uint32_t kTornSlot = ~0u;

  // Prefetches the lines of a child that a search reads: a whole leaf, or the heads of an inner
  // node. The search then waits for memory once, not for one line after the other.
  [[gnu::always_inline]] static void ask(const Inner& parent, const Node* child) {
    ask_lines(child, 0, (parent.level == 1 ? sizeof(NumberLeaf) : sizeof(Node)) / kLine);
  }
  // For lookups in a batch. When the first line of a node has arrived, prefetches what the search
  // reads next.
  [[gnu::always_inline]] static void ask_second(const Node& node, const Probe& probe) {
    const uint32_t group = group_of(node, probe);
    if (node.kind == Kind::kText) {
      ask_lines(&node, 1 + group, 2 + group);
      ask_lines(&node, sizeof(Node) / kLine, sizeof(TextNode) / kLine);
    } else {
      ask_for_group(&node, node.level == 0 ? sizeof(Node) : sizeof(TextNode), group);
    }
  }
  // Returns the index of the child that may have the first pair after the place: the number of
  // separators that are not after the place.
  [[gnu::always_inline]] static uint32_t child_index(const Inner& node, const Probe& probe) {
    const uint64_t head = head_of(node, probe);
    const uint32_t high = std::min<uint32_t>(heads_below<true>(node, head), node.count);
    if (high == 0 || __builtin_expect(node.heads[high - 1] != head, 1)) return high;
    uint32_t low = high - 1;
    if (low > 0 && node.heads[low - 1] == head) low = heads_below<false>(node, head);
    return first_not_before(low, high, [&](uint32_t slot) {
      return static_cast<int>(compare(node.separator(slot), probe) <= 0);
    });
  }
  // Returns the number of pairs before the place, or kTornSlot.
  [[gnu::always_inline]] static uint32_t place(const Node& leaf, const Probe& probe) {
    const uint64_t head = head_of(leaf, probe);
    const uint32_t count = leaf.used();
    const uint32_t low = std::min(heads_below<false>(leaf, head), count);
    if (low == count || load(leaf.heads[low]) != head) return low;
    const bool is_number = leaf.kind == Kind::kNumbers;
    if (is_number && probe.payload.size == 0 && !probe.after) return low;
    uint32_t high = low + 1;
    if (high < count && load(leaf.heads[high]) == head) {
      high = std::min(heads_below<true>(leaf, head), count);
    }
    return is_number ? place_in_numbers(numbers(leaf), probe, low, high)
                     : place_in_text(text(leaf), probe, low, high);
  }
  // Copies the payload of the first pair after the place to `payload`, if this pair has `key`.
  static Answer find(const Node& leaf, const Probe& probe, Span key, KeydromeBuffer& payload) {
    const uint32_t slot = place(leaf, probe);
    if (slot == kTornSlot) return Answer::kTorn;
    if (slot >= leaf.used()) return Answer::kEnd;
    if (leaf.kind == Kind::kNumbers) {
      if (load(leaf.heads[slot]) != probe.key_head) return Answer::kNone;
      const uint64_t value = load(numbers(leaf).values[slot]);
      payload.size = numbers(leaf).payload_bytes();
      if (__builtin_expect(payload.size == 8, 1)) {
        std::memcpy(payload.data, &value, 8);
      } else if (payload.size > 0) {
        std::memcpy(payload.data, &value, payload.size);
      }
      return Answer::kFound;
    }
    Pair pair{};
    if (!text(leaf).read(slot, pair)) return Answer::kTorn;
    if (!equal_bytes(pair.key, key)) return Answer::kNone;
    copy_from_shared(static_cast<uint8_t*>(payload.data), pair.payload.data, pair.payload.size);
    payload.size = pair.payload.size;
    return Answer::kFound;
  }
  // Appends the pairs after the place. Returns kEnd if all were appended, and kNone if the run
  // became full first.
  static Answer emit(const Node& leaf, const Probe& probe, KeydromeRun& run) {
    const uint32_t slot = place(leaf, probe);
    if (slot == kTornSlot) return Answer::kTorn;
    return leaf.kind == Kind::kNumbers ? emit_numbers(numbers(leaf), slot, run)
                                       : emit_text(text(leaf), slot, run);
  }

 private:
  // Returns the number of heads that are < `head`, or <= `head` if `or_equal`.
  template <bool or_equal>
  [[gnu::always_inline]] static uint32_t heads_below(const Node& node, uint64_t head) {
    const uint32_t group = Search::template group_of<or_equal>(node, head);
    return 8 * group + Search::template below_in<or_equal>(node, group, head);
  }
  [[gnu::always_inline]] static uint32_t group_of(const Node& node, const Probe& probe) {
    return Search::template group_of<false>(node, head_of(node, probe));
  }
  // Prefetches the heads of a group, and the values or children that belong to them.
  [[gnu::always_inline]] static void ask_for_group(const Node* node, uint64_t values,
                                                   uint64_t group) {
    const char* bytes = reinterpret_cast<const char*>(node) + kLine * group;
    __builtin_prefetch(bytes + kLine);
    __builtin_prefetch(bytes + values);
  }
  // Returns the head of the probe in this node. If all pairs of the node have the key of the probe,
  // and the probe is after all payloads of this key, the head is the largest number.
  [[gnu::always_inline]] static uint64_t head_of(const Node& node, const Probe& probe) {
    // All nodes whose heads are the first bytes of keys have the same head for a probe.
    if (__builtin_expect(node.has_key_heads(), 1)) return probe.key_head;
    if (node.head_is_payload && probe.past_key) return kNoHead;
    return head_in(node, probe);
  }

  // Returns the first slot of [low, high) that is not before a place, by binary search.
  // `is_before(slot)` is negative if another thread changes the leaf; the result is then kTornSlot.
  template <class Before>
  static uint32_t first_not_before(uint32_t low, uint32_t high, const Before& is_before) {
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      const int before = is_before(middle);
      if (before < 0) return kTornSlot;
      if (before > 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  static uint32_t place_in_numbers(const NumberLeaf& leaf, const Probe& probe, uint32_t low,
                                   uint32_t high) {
    if (probe.past_key) return high;
    const uint32_t size = leaf.payload_bytes();
    return first_not_before(low, high, [&](uint32_t slot) {
      const uint64_t value = load(leaf.values[slot]);
      const Span payload{reinterpret_cast<const uint8_t*>(&value), size};
      const int order = compare_bytes(payload, probe.payload);
      return static_cast<int>(order < 0 || (order == 0 && probe.after));
    });
  }
  static uint32_t place_in_text(const TextNode& leaf, const Probe& probe, uint32_t low,
                                uint32_t high) {
    return first_not_before(low, high, [&](uint32_t slot) {
      Pair pair{};
      if (!leaf.read(slot, pair)) return -1;
      return static_cast<int>(compare(pair, probe) < 0);
    });
  }

  static Answer emit_numbers(const NumberLeaf& leaf, uint32_t slot, KeydromeRun& run) {
    const uint32_t key = leaf.key_size;
    const uint32_t payload = leaf.payload_bytes();
    const uint32_t bytes = 2 + key + payload;
    const uint32_t count = leaf.used();
    const uint32_t ready = count > slot ? count - slot : 0;
    const uint32_t room = std::min(run.limit - run.pairs, (run.capacity - run.size) / bytes);
    const uint32_t pairs = std::min(ready, room);
    auto* to = static_cast<uint8_t*>(run.data) + run.size;
    for (uint32_t i = slot; i < slot + pairs; ++i, to += bytes) {
      const uint64_t head = __builtin_bswap64(load(leaf.heads[i]));
      const uint64_t value = load(leaf.values[i]);
      to[0] = static_cast<uint8_t>(key);
      to[1] = static_cast<uint8_t>(payload);
      if (bytes == 18) {
        std::memcpy(to + 2, &head, 8);
        std::memcpy(to + 10, &value, 8);
      } else {
        std::memcpy(to + 2, &head, key);
        if (payload > 0) std::memcpy(to + 2 + key, &value, payload);
      }
    }
    run.size += pairs * bytes;
    run.pairs += pairs;
    return pairs == ready ? Answer::kEnd : Answer::kNone;
  }
  static Answer emit_text(const TextNode& leaf, uint32_t slot, KeydromeRun& run) {
    const uint32_t count = leaf.used();
    for (; slot < count; ++slot) {
      Pair pair{};
      if (!leaf.read(slot, pair)) return Answer::kTorn;
      const uint32_t pair_bytes = pair.key.size + pair.payload.size;
      const uint32_t bytes = 2 + pair_bytes;
      if (run.pairs == run.limit || bytes > run.capacity - run.size) return Answer::kNone;
      auto* to = static_cast<uint8_t*>(run.data) + run.size;
      to[0] = static_cast<uint8_t>(pair.key.size);
      to[1] = static_cast<uint8_t>(pair.payload.size);
      copy_from_shared(to + 2, pair.key.data, pair_bytes);
      run.size += bytes;
      ++run.pairs;
    }
    return Answer::kEnd;
  }
};

}  // namespace keydrome::btree_olc
