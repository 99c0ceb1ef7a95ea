// FixedNode: the nodes of a tree whose keys are all 4 or all 8 bytes long.
//
// A key is a number, and a slot is a pair of key and value. Leaves and inner nodes have the same
// form: a cache line with the *summary*, and then 63 pairs in groups of eight. The summary repeats
// the first key of every group but the first. A search compares the summary, and then the keys of
// one group. So it waits for memory at most twice in each level.
//
// In a leaf, the value is the payload itself if the key has one payload, and the payload has the
// payload size of this leaf (0 to 8 bytes). Otherwise the value is a pointer to a set of payloads,
// and the bit of the slot in `sets` is set. In an inner node, the value is a child, and the key is
// a lower bound of the keys below the child. The key of the first child is 0.
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/btree/memory.h"
#include "structures/btree/value.h"

namespace keydrome::btree {

// Key and value of a slot.
struct Pair {
  uint64_t key;
  uint64_t value;
};

// The form of a node, and access to its parts.
struct FixedNode {
  static constexpr uint32_t kSlots = 63;
  static constexpr uint32_t kLines = 17;
  static constexpr uint64_t kNone = ~uint64_t{0};  // the key of an unused slot
  // A full leaf gives pairs to a neighbour that has fewer than this many.
  static constexpr uint32_t kShareMax = 56;
  // A node with fewer slots is merged with a neighbour, if both together have at most kMergeMax.
  static constexpr uint32_t kThin = 21;
  static constexpr uint32_t kMergeMax = 48;
  // For the prefetches of a scan: the usual number of pairs in a leaf, and the number of leaves
  // that are on their way at the same time.
  static constexpr uint32_t kUsual = 44;
  static constexpr uint32_t kLeavesAhead = 3;

  using Separator = uint64_t;

  struct alignas(kLine) Node {
    uint64_t summary[7];
    uint8_t count;
    uint8_t level;  // 0: leaf
    uint8_t payload_size;
    Pair pairs[kSlots];
    uint64_t end;  // always kNone: the 64th key, so that the last group has eight keys, too
    uint64_t sets;
  };
  static_assert(sizeof(Node) == kLines * kLine);

  struct Item {
    Pair pair;
    bool set = false;
  };

  // Copies of the slots of one or two neighbouring nodes, with room for one more.
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
      all[at] = {{all[at].pair.key, packed(value)}, value.set != 0};
    }
  };

  static uint64_t address(const Node* node) { return reinterpret_cast<uint64_t>(node); }

  static Item inner_item(const Separator& separator, Node* child) {
    return {{separator, address(child)}, false};
  }
  // Returns the eight bytes that a leaf's slot stores for a value: the payload, or the pointer to a
  // set.
  static uint64_t packed(const Value& value) {
    uint64_t bits = value.set;
    if (bits == 0) copy_bytes(&bits, value.payload.data, value.payload.size);
    return bits;
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

  static Separator separator_of(const Node& node, uint32_t slot) { return node.pairs[slot].key; }

  // Writes the key of a slot to `to`, and returns its size.
  static uint32_t key(const Node& leaf, uint32_t slot, uint32_t key_bytes, uint8_t* to) {
    write_key(to, leaf.pairs[slot].key, key_bytes);
    return key_bytes;
  }
  static void write_key(uint8_t* to, uint64_t key, uint32_t key_bytes) {
    const uint64_t big = __builtin_bswap64(key_bytes == 8 ? key : key << 32);
    std::memcpy(to, &big, key_bytes);
  }
};

}  // namespace keydrome::btree
