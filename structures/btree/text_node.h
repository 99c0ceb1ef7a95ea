// Text: the nodes of a tree whose keys are strings, or have another fixed size than 4 or 8 bytes.
//
// A node has the common prefix of its keys once. For each slot it has a head, which is the eight key
// bytes after the prefix as a number, and a record with the rest of the key and the payload. The
// records fill the heap, from the end of the node downwards. Most searches read the heads only.
// Leaves also have a tag for each slot, a byte of a hash of the key. `find` compares the tags of a
// leaf and reads only the records with the tag of its key.
//
// Nodes grow in steps, because most of them have short records. A slot has the distance of its
// record from the end of the node, so growing is two copies. A removed record stays in the heap as
// dead bytes until the node is built again.
//
// An inner node with n children has n - 1 slots. Their keys are the separators: the shortest
// strings that divide the children. A separator is <= all keys of the child to its right.
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/btree/memory.h"
#include "structures/btree/payloads.h"
#include "structures/btree/search_plain.h"
#include "structures/btree/text_items.h"
#include "structures/btree/value.h"

namespace keydrome::btree {

template <class Search>
struct Text {
  static constexpr uint32_t kSlots = 64;  // items: entries of a leaf, children of an inner node
  static constexpr uint32_t kUnit = 128;
  static constexpr uint32_t kBytesMax = 4096;  // a larger node is divided, if it has kFew items
  static constexpr uint32_t kFew = 16;
  static constexpr uint32_t kMergeMax = 48;  // items of a node that merging may make
  static constexpr uint32_t kGrowth = 256;
  static constexpr uint32_t kPrefixMax = 120;
  static constexpr uint64_t kNone = ~uint64_t{0};  // heads and summary after the last slot
  static constexpr bool kGrows = true;

  using Probe = Span;
  using Sets = Payloads<Search>;
  using Separator = TextSeparator;
  using Item = TextItem;
  using Items = TextItems;

  struct alignas(kLine) Node {
    uint8_t count;  // slots
    uint8_t level;
    uint8_t prefix_size;
    uint8_t units;  // size of the node, in kUnit bytes
    uint16_t heap;  // bytes of the heap
    uint16_t dead;  // bytes of the heap that no slot uses
    uint8_t prefix[kPrefixMax];
    uint64_t summary[8];
    uint8_t tags[kSlots];
    uint16_t slots[kSlots];
    uint64_t heads[kSlots];
  };
  static_assert(sizeof(Node) == 14 * kLine);
  static constexpr uint32_t kHeaderLines = sizeof(Node) / kLine;

  // A record: key size, payload size or kSetMark, rest of the key, payload or set.
  static constexpr uint32_t kRecordHeader = 2;
  static constexpr uint8_t kSetMark = 255;
  static constexpr uint32_t kBytesMost = kUnit * 128;  // 64 records of the largest size fit
  static_assert(sizeof(Node) + kSlots * (8 + kRecordHeader + KEYDROME_KEY_BYTES_MAX +
                                         KEYDROME_PAYLOAD_BYTES_MAX) <=
                kBytesMost);

  // ---- parts of a node

  static uint32_t size(const Node& node) { return node.units * kUnit; }
  static uint32_t heap_begin(uint32_t level) {
    return static_cast<uint32_t>(sizeof(Node) + (level > 0 ? kSlots * sizeof(Node*) : 0));
  }
  KEYDROME_HOT Node** children(const Node& node) {
    return reinterpret_cast<Node**>(const_cast<Node*>(&node) + 1);
  }
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
  static uint32_t room(const Node& node) { return size(node) - heap_begin(node.level) - node.heap; }
  static uint32_t bytes_needed(const Node& node, const Item& item) {
    return kRecordHeader + rest_size(item.key.size, node.prefix_size) + item.stored_size();
  }

  // ---- keys and values

  KEYDROME_HOT Probe probe(Span key, uint32_t) { return key; }
  KEYDROME_HOT bool holds(Span key, uint32_t) { return key.size <= KEYDROME_KEY_BYTES_MAX; }
  static bool fits_inline(const Node&, uint32_t) { return true; }
  static void adopt(Node&, uint32_t) {}
  static Item leaf_item(Probe key, const Value& value) {
    return {key, value.payload, value.set, tag_of(key)};
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

  // ---- search

  // Compares the key with the prefix: < 0, 0 or > 0 as the key is smaller than all keys of the
  // node, has the prefix, or is larger than all.
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
  template <bool or_equal>
  KEYDROME_HOT uint32_t head_rank(const Node& node, uint64_t head) {
    uint32_t group = Search::summary_at_most(node.summary, head);
    if constexpr (!or_equal) group = Search::template heads_below<false>(node.summary, head);
    const uint32_t from = 8 * group;
    const uint32_t below = from + Search::template heads_below<or_equal>(node.heads + from, head);
    return std::min<uint32_t>(below, node.count);
  }
  // Returns the first slot whose key is not smaller than `key`.
  KEYDROME_HOT uint32_t place(const Node& node, Probe key, bool& same) {
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
  KEYDROME_HOT bool lookup(const Node& leaf, Probe key, Value& value) {
    uint64_t mask = Search::match(leaf.tags, tag_of(key));
    mask &= leaf.count == 64 ? kNone : (uint64_t{1} << leaf.count) - 1;
    for (; mask != 0; mask &= mask - 1) {
      const auto slot = static_cast<uint32_t>(__builtin_ctzll(mask));
      if (compare_rest(leaf, slot, key) != 0) continue;
      if (leaf.heads[slot] != load_head(key, leaf.prefix_size)) continue;
      if (against_prefix(leaf, key) != 0) continue;
      value = Text::value(leaf, slot);
      return true;
    }
    return false;
  }
  KEYDROME_HOT uint32_t child_index(const Node& node, Probe key) {
    bool same;
    const uint32_t slot = place(node, key, same);
    return slot + static_cast<uint32_t>(same);
  }
  KEYDROME_HOT Node* child(const Node& node, uint32_t index) { return children(node)[index]; }

  // ---- prefetching

  // A leaf is asked for as a whole, without its heap, which is too long: one wait instead of two.
  KEYDROME_HOT void ask(const Node& parent, const Node* child) {
    ask_lines(child, 0, parent.level == 1 ? kHeaderLines : 3);
  }
  KEYDROME_HOT void ask_to_write(const Node* leaf) { ask_lines<1>(leaf, 0, kHeaderLines); }
  KEYDROME_HOT void ask_to_scan(const Node* leaf) { ask_lines(leaf, 0, kHeaderLines + 12); }
  KEYDROME_HOT void ask_first(const Node* node) { ask_lines(node, 0, 6); }
  KEYDROME_HOT void ask_second(const Node& node, Probe key) {
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

  // ---- changes in place

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
    Node* node = allocate(memory, level, heap_begin(level) + kUnit);
    if (node != nullptr) seal(*node);
    return node;
  }
  static void drop(const Memory& memory, Node* node) { memory.retire(node, size(*node), kLine); }

  static void seal(Node& node) {
    for (uint32_t i = node.count; i < kSlots; ++i) node.heads[i] = kNone;
    for (uint32_t i = node.count; i < kSlots; ++i) node.tags[i] = 0;
    summarise(node);
  }
  static void summarise(Node& node) {
    for (uint32_t group = 1; group < 8; ++group) node.summary[group - 1] = node.heads[8 * group];
    node.summary[7] = kNone;
  }
  static bool accepts(const Node& node, const Item& item) {
    return items(node) < kSlots && item.key.size >= node.prefix_size &&
           Search::compare(item.key.data, node.prefix, node.prefix_size) == 0;
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
    std::memmove(node.heads + slot + 1, node.heads + slot, tail * sizeof node.heads[0]);
    std::memmove(node.slots + slot + 1, node.slots + slot, tail * sizeof node.slots[0]);
    std::memmove(node.tags + slot + 1, node.tags + slot, tail);
    ++node.count;
  }
  static void encode(Node& node, uint32_t slot, const Item& item) {
    const uint32_t rest = rest_size(item.key.size, node.prefix_size);
    node.heap = static_cast<uint16_t>(node.heap + bytes_needed(node, item));
    node.slots[slot] = node.heap;
    node.heads[slot] = load_head(item.key, node.prefix_size);
    node.tags[slot] = item.tag;
    uint8_t* to = record(node, slot);
    to[0] = static_cast<uint8_t>(item.key.size);
    if (rest > 0) Search::copy(to + kRecordHeader, item.key.data + node.prefix_size + 8, rest);
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
  // Returns false if the record is too short for the value.
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
  static bool insert_child(Node& node, uint32_t index, const Separator& separator, Node* child) {
    Node** list = children(node);
    const uint32_t later = items(node) - index;
    if (!insert(node, index - 1, separator.item(nullptr))) return false;
    std::memmove(list + index + 1, list + index, later * sizeof(Node*));
    list[index] = child;
    return true;
  }
  // Replaces the separator to the left of a child.
  static bool assign_separator(Node& node, uint32_t index, const Separator& separator) {
    const Item item = separator.item(nullptr);
    if (!accepts(node, item) || bytes_needed(node, item) > room(node)) return false;
    erase(node, index - 1);
    return insert(node, index - 1, item);
  }
  static Separator separator_of(const Node& node, uint32_t index) {
    uint8_t bytes[kKeyRoom];
    return Separator::of({bytes, key(node, index - 1, 0, bytes)});
  }
  static Item inner_item(const Separator& separator, Node* child) { return separator.item(child); }

  // ---- changes of whole nodes

  // Returns a larger copy of the node into which the item fits, or nullptr if out of memory.
  static Node* grown(const Memory& memory, const Node& node, const Item& item) {
    const uint32_t more = std::max(bytes_needed(node, item), kGrowth);
    Node* copy = allocate(memory, node.level, size(node) + more);
    if (copy == nullptr) return nullptr;
    const uint8_t units = copy->units;
    std::memcpy(copy, &node, heap_begin(node.level));
    copy->units = units;
    std::memcpy(reinterpret_cast<uint8_t*>(copy) + size(*copy) - node.heap,
                reinterpret_cast<const uint8_t*>(&node) + size(node) - node.heap, node.heap);
    return copy;
  }
  // Whether growing is enough for the item, and better than building the node again.
  static bool may_grow(const Node& node, const Item& item) {
    return accepts(node, item) && node.dead == 0 &&
           (size(node) - room(node) + bytes_needed(node, item) <= kBytesMax || node.count < kFew);
  }

  static void gather(const Node& node, Items& all) {
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
  static uint32_t common_prefix(const Items& all, uint32_t from, uint32_t to) {
    if (from >= to) return 0;
    const Span& a = all.all[from].key;
    const Span& b = all.all[to - 1].key;
    const uint32_t most = std::min({a.size, b.size, kPrefixMax});
    return Search::common(a.data, b.data, most);
  }
  static uint32_t heap_bytes(const Items& all, uint32_t from, uint32_t to, uint32_t prefix) {
    uint32_t bytes = 0;
    for (uint32_t i = from; i < to; ++i) {
      bytes += kRecordHeader + rest_size(all.all[i].key.size, prefix) + all.all[i].stored_size();
    }
    return bytes;
  }
  static Node* build(const Memory& memory, uint32_t level, const Items& all, uint32_t from,
                     uint32_t to) {
    const uint32_t first = from + (level > 0 ? 1u : 0u);  // the first child has no separator
    const uint32_t prefix = common_prefix(all, first, to);
    Node* node =
        allocate(memory, level, heap_begin(level) + heap_bytes(all, first, to, prefix) + kUnit / 2);
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
  static uint32_t cut(uint32_t level, const Items& all) {
    const uint32_t first = level > 0 ? 1 : 0;
    const uint32_t prefix = common_prefix(all, first, all.count);
    const uint32_t bytes = heap_bytes(all, first, all.count, prefix);
    if (all.count <= kSlots && (heap_begin(level) + bytes <= kBytesMax || all.count < kFew)) {
      return all.count;
    }
    // Half of the bytes, but neither node gets more items than it can hold, or too few.
    uint32_t items = first;
    for (uint32_t left = 0; items < all.count && left < bytes / 2; ++items) {
      left += heap_bytes(all, items, items + 1, prefix);
    }
    return std::clamp(items, all.count / 4, all.count - all.count / 4);
  }
  static Separator separator(uint32_t level, const Items& all, uint32_t at) {
    const Span right = all.all[at].key;
    if (level > 0) return Separator::of(right);
    return Separator::between(all.all[at - 1].key, right);
  }
  static bool thin(const Node& node) {
    return items(node) < kFew && node.heap - node.dead < static_cast<int>(kBytesMax / 4);
  }
  static bool mergeable(const Node& a, const Node& b) {
    // A record gets longer by the prefix of its node, if the nodes have nothing in common.
    const auto bytes = [](const Node& node) -> uint32_t {
      return static_cast<uint32_t>(node.heap - node.dead) + node.count * node.prefix_size;
    };
    return items(a) + items(b) <= kMergeMax &&
           heap_begin(a.level) + bytes(a) + bytes(b) <= kBytesMax * 3 / 4;
  }

  // ---- scan

  KEYDROME_HOT bool emit(const Node& leaf, uint32_t& slot, uint32_t, KeydromeRun& run) {
    for (; slot < leaf.count; ++slot) {
      const uint8_t* bytes = record(leaf, slot);
      if (bytes[1] == kSetMark) return true;
      const uint32_t key_size = bytes[0];
      const uint32_t payload_size = bytes[1];
      const uint32_t needs = 2 + key_size + payload_size;
      const uint32_t left = run.capacity - run.size;
      if (run.pairs == run.limit || needs > left) return false;
      uint8_t* to = static_cast<uint8_t*>(run.data) + run.size;
      std::memcpy(to, bytes, 2);
      // With room for the longest pair, whole words may be written past the key.
      if (left >= 2 * KEYDROME_RUN_BYTES_MIN) {
        spill_key(leaf, slot, to + 2);
      } else {
        uint8_t scratch[kKeyRoom];
        std::memcpy(to + 2, scratch, key(leaf, slot, 0, scratch));
      }
      const uint32_t rest = rest_size(key_size, leaf.prefix_size);
      copy_bytes(to + 2 + key_size, bytes + kRecordHeader + rest, payload_size);
      run.size += needs;
      ++run.pairs;
    }
    return true;
  }
  // Writes prefix, head and rest of a key. The head may reach past the end of a short key.
  KEYDROME_HOT void spill_key(const Node& node, uint32_t slot, uint8_t* to) {
    const uint8_t* bytes = record(node, slot);
    const uint32_t prefix = node.prefix_size;
    const uint32_t rest = rest_size(bytes[0], prefix);
    Search::copy(to, node.prefix, prefix);
    store_big(to + prefix, node.heads[slot]);
    Search::copy(to + prefix + 8, bytes + kRecordHeader, rest);
  }
  // Writes the key of a slot to `to`, which has kKeyRoom bytes, and returns its size.
  static uint32_t key(const Node& node, uint32_t slot, uint32_t, uint8_t* to) {
    spill_key(node, slot, to);
    return record(node, slot)[0];
  }

  // ---- check

  static bool sound(const Node& node, const Separator* low, const Separator* high) {
    if (items(node) > kSlots || node.dead > node.heap) return false;
    if (heap_begin(node.level) + node.heap > size(node)) return false;
    uint8_t keys[2][kKeyRoom];
    Span before;
    uint32_t live = 0;
    for (uint32_t i = 0; i < node.count; ++i) {
      if (node.slots[i] > node.heap) return false;
      const Span own{keys[i % 2], key(node, i, 0, keys[i % 2])};
      live += record_size(node, i);
      if (own.size < node.prefix_size || own.size > KEYDROME_KEY_BYTES_MAX) return false;
      if (node.heads[i] != load_head(own, node.prefix_size)) return false;
      if (node.level == 0 && node.tags[i] != tag_of(own)) return false;
      if (i > 0 && compare_bytes(before, own) >= 0) return false;
      if (low != nullptr && compare_bytes(low->span(), own) > 0) return false;
      if (high != nullptr && compare_bytes(own, high->span()) >= 0) return false;
      before = own;
    }
    for (uint32_t i = node.count; i < kSlots; ++i) {
      if (node.heads[i] != kNone) return false;
    }
    for (uint32_t group = 1; group < 8; ++group) {
      if (node.summary[group - 1] != node.heads[8 * group]) return false;
    }
    return node.count == 0 || live + node.dead == node.heap;
  }
};

}  // namespace keydrome::btree
