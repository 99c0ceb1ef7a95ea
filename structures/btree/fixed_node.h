// Fixed: the nodes of a tree whose keys are all 4 or all 8 bytes long.
//
// A key is a number, and a slot is a pair of key and value. One node form is both leaf and inner
// node: a summary line with the first keys of the groups of eight pairs, then 63 pairs. A search
// compares the summary, then one group: two cache lines depend on each other in each level.
//
// In a leaf, the value is the payload, if it has the leaf's payload size (0 to 8 bytes), or a set
// of payloads. `sets` has a bit for each slot. In an inner node, the value is a child, and the key
// is the smallest key that may be below the child. The key of the first child is 0.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>

#include "structures/btree/memory.h"
#include "structures/btree/payloads.h"
#include "structures/btree/search_plain.h"
#include "structures/btree/value.h"

namespace keydrome::btree {

template <class Search>
struct Fixed {
  static constexpr uint32_t kSlots = 63;
  static constexpr uint32_t kLines = 17;
  static constexpr uint64_t kNone = ~uint64_t{0};  // unused places for keys
  // A full leaf gives pairs to a neighbour that has fewer than this many.
  static constexpr uint32_t kShareMax = 56;
  // A node with fewer slots is merged with a neighbour, if both together have at most kMergeMax.
  static constexpr uint32_t kThin = 21;
  static constexpr uint32_t kMergeMax = 48;
  static constexpr bool kGrows = false;

  using Probe = uint64_t;
  using Sets = Payloads<Search>;
  using Separator = uint64_t;

  struct alignas(kLine) Node {
    uint64_t summary[7];
    uint8_t count;
    uint8_t level;  // 0: leaf
    uint8_t payload_size;
    Pair pairs[kSlots];
    uint64_t end;  // kNone: the key of a pair that is never used
    uint64_t sets;
  };
  static_assert(sizeof(Node) == kLines * kLine);

  struct Item {
    Pair pair;
    bool set = false;
  };

  // The slots of one or two neighbouring nodes, and one more.
  struct Items {
    Item all[2 * kSlots + 2];
    uint32_t count = 0;
    uint8_t payload_size = 0;

    void insert(uint32_t at, const Item& item) {
      std::memmove(static_cast<void*>(all + at + 1), all + at, (count - at) * sizeof(Item));
      all[at] = item;
      ++count;
    }
    void erase(uint32_t at) {
      --count;
      std::memmove(static_cast<void*>(all + at), all + at + 1, (count - at) * sizeof(Item));
    }
    void set_separator(uint32_t at, const Separator& separator) { all[at].pair.key = separator; }
    void set_child(uint32_t at, Node* child) { all[at].pair.value = address(child); }
    void set_value(uint32_t at, const Value& value) {
      all[at] = leaf_item(all[at].pair.key, value);
    }
  };

  static uint64_t address(const Node* node) { return reinterpret_cast<uint64_t>(node); }

  // ---- keys and values

  // The key as a number. A shorter key is filled up with zeros, a longer one is cut.
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
    return {{key, packed(value)}, value.set != 0};
  }
  static Item inner_item(const Separator& separator, Node* child) {
    return {{separator, address(child)}, false};
  }
  static uint64_t packed(const Value& value) {
    uint64_t bits = value.set;
    if (bits == 0) copy_bytes(&bits, value.payload.data, value.payload.size);
    return bits;
  }

  // ---- search

  // Returns the number of keys that are < `key`, or <= `key` if `or_equal`.
  template <bool or_equal>
  KEYDROME_HOT uint32_t rank(const Node& node, uint64_t key) {
    // The largest key is not smaller than unused places.
    if (__builtin_expect(key == kNone, 0)) return rank_of_largest<or_equal>(node);
    const uint32_t from = 8 * Search::summary_at_most(node.summary, key);
    return from + Search::template pairs_below<or_equal>(node.pairs + from, key);
  }
  template <bool or_equal>
  static uint32_t rank_of_largest(const Node& node) {
    if (or_equal || node.count == 0) return node.count;
    return node.count - (node.pairs[node.count - 1].key == kNone ? 1 : 0);
  }
  KEYDROME_HOT uint32_t place(const Node& node, Probe key, bool& same) {
    const uint32_t slot = rank<false>(node, key);
    same = slot < node.count && node.pairs[slot].key == key;
    return slot;
  }
  KEYDROME_HOT bool lookup(const Node& leaf, Probe key, Value& value) {
    bool same;
    const uint32_t slot = place(leaf, key, same);
    if (same) value = Fixed::value(leaf, slot);
    return same;
  }
  KEYDROME_HOT uint32_t child_index(const Node& node, Probe key) {
    return rank<true>(node, key) - 1;
  }
  KEYDROME_HOT Node* child(const Node& node, uint32_t slot) {
    return reinterpret_cast<Node*>(node.pairs[slot].value);
  }
  KEYDROME_HOT Value value(const Node& leaf, uint32_t slot) {
    const Pair& pair = leaf.pairs[slot];
    if (__builtin_expect((leaf.sets >> slot & 1) != 0, 0)) return {{}, pair.value};
    return {{reinterpret_cast<const uint8_t*>(&pair.value), leaf.payload_size}, 0};
  }
  static uint32_t items(const Node& node) { return node.count; }

  // ---- prefetching

  // Asks for a child on the way down. On the lowest two levels, which are too large for the
  // caches near the processor, it asks for the whole child: one wait instead of two.
  KEYDROME_HOT void ask([[maybe_unused]] const Node& parent, const Node* child) {
    __builtin_prefetch(child);
#if ASK == 1
    if (parent.level <= 1) ask_lines(child, 1, kLines);
#elif ASK == 2
    if (parent.level <= 2) ask_lines(child, 1, kLines);
#endif
  }
  KEYDROME_HOT void ask_to_write(const Node* leaf) { ask_lines<1>(leaf, 0, kLines); }
  KEYDROME_HOT void ask_to_scan(const Node* leaf) { ask_lines(leaf, 0, kLines); }
  // For lookups in a batch: what the search reads first, and what it reads then.
  KEYDROME_HOT void ask_first(const Node* node) { __builtin_prefetch(node); }
  KEYDROME_HOT void ask_second(const Node& node, Probe key) {
    const Pair* group = node.pairs + 8 * Search::summary_at_most(node.summary, key);
    __builtin_prefetch(group);
    __builtin_prefetch(group + 4);
  }

  // ---- changes in place

  // Makes a node. The caller sets the keys.
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

  // Writes the summary again, from the group of a slot on.
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
  // An inner node may lose its only child. Its caller then drops it.
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
  static Separator separator_of(const Node& node, uint32_t slot) { return node.pairs[slot].key; }

  // ---- changes of whole nodes

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
  // Returns the number of items of the first node, all of them if one node is enough.
  static uint32_t cut(uint32_t, const Items& items) {
    return items.count <= kSlots ? items.count : items.count / 2;
  }
  static Separator separator(uint32_t, const Items& items, uint32_t at) {
    return items.all[at].pair.key;
  }
  // Makes a leaf of the slots from `slot` on, which stay in the leaf.
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
  // A full leaf gives half of the difference, and one more, to a neighbour.
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
  static bool thin(const Node& node) { return node.count < kThin; }
  static bool mergeable(const Node& a, const Node& b) {
    if (a.level == 0 && a.payload_size != b.payload_size) return false;
    return a.count + b.count <= static_cast<int>(kMergeMax);
  }

  // ---- scan

  // Appends the pairs from a slot on, up to the first set or the end of the leaf. Returns false if
  // the run is full before that. `slot` is then the first slot that is not in the run.
  KEYDROME_HOT bool emit(const Node& leaf, uint32_t& slot, uint32_t key_bytes, KeydromeRun& run) {
    const uint64_t later_sets = leaf.sets >> slot;
    const uint32_t plain =
        later_sets == 0 ? kSlots : static_cast<uint32_t>(__builtin_ctzll(later_sets));
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
        write_key(to + 2, pair->key, key_bytes);
        copy_bytes(to + 2 + key_bytes, &pair->value, leaf.payload_size);
      }
    }
    run.size += count * bytes;
    run.pairs += count;
    slot += count;
    return count == ready;
  }
  // Writes the key of a slot to `to`, and returns its size.
  static uint32_t key(const Node& leaf, uint32_t slot, uint32_t key_bytes, uint8_t* to) {
    write_key(to, leaf.pairs[slot].key, key_bytes);
    return key_bytes;
  }
  static void write_key(uint8_t* to, uint64_t key, uint32_t key_bytes) {
    const uint64_t big = __builtin_bswap64(key_bytes == 8 ? key : key << 32);
    std::memcpy(to, &big, key_bytes);
  }

  // ---- check

  // A bound is a key, or nullptr. Returns whether the node is in order and in the bounds.
  static bool sound(const Node& node, const Separator* low, const Separator* high) {
    if (node.count > kSlots || node.payload_size > 8) return false;
    if (node.level == 0 && node.count < 64 && node.sets >> node.count != 0) return false;
    if (node.level > 0 && (node.sets != 0 || node.pairs[0].key != 0)) return false;
    for (uint32_t i = 0; i < node.count; ++i) {
      const uint64_t key = node.pairs[i].key;
      const bool bounded = node.level == 0 || i > 0;
      if (i > 0 && node.pairs[i - 1].key >= key) return false;
      if (bounded && low != nullptr && key < *low) return false;
      if (bounded && high != nullptr && key >= *high) return false;
    }
    for (uint32_t group = 1; group < 8; ++group) {
      if (node.summary[group - 1] != node.pairs[8 * group].key) return false;
    }
    for (uint32_t i = node.count; i < kSlots; ++i) {
      if (node.pairs[i].key != kNone) return false;
    }
    return node.end == kNone;
  }
};

}  // namespace keydrome::btree
