// NumberLeaf, TextNode, Inner: the nodes of a thread-safe B+-tree (tree.h).
//
// A node has up to 56 slots. Each slot has a *head*: eight bytes of its pair as a number. Heads are
// in groups of eight, and the *summary* repeats the first head of every group but the first. A
// search compares the summary and then one group. It reads records only where heads are equal.
//
// - NumberLeaf: keys of 4 or 8 bytes, and payloads of one size of up to 8 bytes. A head is the
//   whole key. The payloads follow the heads.
// - TextNode as a leaf: any pairs, as records.
// - Inner: separators, as records, and one more child than separators. A separator is the smallest
//   pair that may be in the child to its right.
//
// The *fences* of a node are the bounds of the pairs below it. They never change. All these pairs
// begin with the bytes that both fences share, so heads begin after these bytes. If both fences
// have the same key, all pairs have this key, and heads are bytes of payloads.
//
// Thread safety: an inner node does not change, except that a child may be exchanged for another
// one with the same fences. Leaves change in place, under their latch; readers check the version.
// What a reader reads from a leaf may be wrong, so it must check offsets and sizes before it uses
// them.
#pragma once

#include <atomic>
#include <cstdint>

#include "structures/btree_olc/pair.h"
#include "structures/btree_olc/version.h"

namespace keydrome::btree_olc {

inline constexpr uint32_t kLine = 64;
inline constexpr uint32_t kSlots = 56;
inline constexpr uint32_t kGroups = kSlots / 8;
inline constexpr uint32_t kLeafBytesMax = 4096;
inline constexpr uint64_t kNoHead = ~uint64_t{0};  // heads after the last slot

enum class Kind : uint8_t { kInner, kNumbers, kText };

struct alignas(kLine) Node {
  Version version;  // only leaves use it
  uint8_t count = 0;
  uint8_t level = 0;  // 0: leaf
  Kind kind = Kind::kText;
  bool head_is_payload = false;
  uint8_t prefix = 0;        // number of common bytes before the heads
  uint8_t payload_size = 0;  // only in a NumberLeaf
  uint8_t key_size = 0;      // only in a NumberLeaf
  uint64_t summary[kGroups - 1];
  uint64_t heads[kSlots];

  // Returns true if heads are the first bytes of keys.
  bool has_key_heads() const { return !head_is_payload && prefix == 0; }
  uint32_t used() const { return std::min<uint32_t>(load(count), kSlots); }
};
static_assert(sizeof(Node) == 8 * kLine);

struct NumberLeaf : Node {
  uint64_t values[kSlots];  // the bytes of a payload, in order

  uint32_t payload_bytes() const { return std::min<uint32_t>(load(payload_size), 8); }
};
static_assert(sizeof(NumberLeaf) == 15 * kLine);

// A record: size of the key, size of the payload, key, payload. Records fill the heap, from the end
// of the node downwards. A removed record stays there as dead bytes.
struct TextNode : Node {
  uint32_t bytes;  // size of the node
  uint16_t heap = 0;
  uint16_t dead = 0;
  uint16_t offsets[kSlots];  // of the records, from the beginning of the node

  static constexpr uint32_t kRecordHeader = 2;

  const uint8_t* at(uint32_t offset) const {
    return reinterpret_cast<const uint8_t*>(this) + offset;
  }
  uint8_t* at(uint32_t offset) { return reinterpret_cast<uint8_t*>(this) + offset; }
  // Reads the pair of a slot. Returns false if offset or sizes are impossible, which means that
  // another thread changes the leaf.
  bool read(uint32_t slot, Pair& pair) const {
    const uint32_t offset = load(offsets[slot]);
    if (offset < sizeof(TextNode) || offset + kRecordHeader > bytes) return false;
    const uint8_t* record = at(offset);
    const uint32_t key = load(record[0]);
    const uint32_t payload = load(record[1]);
    if (key > KEYDROME_KEY_BYTES_MAX || payload > KEYDROME_PAYLOAD_BYTES_MAX) return false;
    if (offset + kRecordHeader + key + payload > bytes) return false;
    pair = {{record + kRecordHeader, key}, {record + kRecordHeader + key, payload}};
    return true;
  }
};
static_assert(sizeof(TextNode) == 10 * kLine);

struct Inner : TextNode {
  std::atomic<Node*> children[kSlots];  // one more than separators

  static constexpr uint32_t kChildren = kSlots;

  uint32_t children_count() const { return count + 1u; }
  // Pairs with the release store that has made the child visible.
  Node* child(uint32_t index) const { return children[index].load(std::memory_order_acquire); }
  Pair separator(uint32_t slot) const {
    Pair pair{};
    read(slot, pair);
    return pair;
  }
};
static_assert(sizeof(Inner) == 17 * kLine);

inline NumberLeaf& numbers(Node& leaf) { return static_cast<NumberLeaf&>(leaf); }
inline const NumberLeaf& numbers(const Node& leaf) { return static_cast<const NumberLeaf&>(leaf); }
inline TextNode& text(Node& node) { return static_cast<TextNode&>(node); }
inline const TextNode& text(const Node& node) { return static_cast<const TextNode&>(node); }
inline Inner& inner(Node& node) { return static_cast<Inner&>(node); }
inline const Inner& inner(const Node& node) { return static_cast<const Inner&>(node); }

// Returns the head that a probe or pair has in this node.
template <class Place>
inline uint64_t head_in(const Node& node, const Place& place) {
  return load_head(node.head_is_payload ? place.payload : place.key, node.prefix);
}

// Prefetches the cache lines [from, to) of a node.
template <int write = 0>
[[gnu::always_inline]] inline void ask_lines(const Node* node, size_t from, size_t to) {
  const auto* bytes = reinterpret_cast<const char*>(node);
#pragma GCC unroll 16
  for (size_t line = from; line < to; ++line) __builtin_prefetch(bytes + kLine * line, write);
}

}  // namespace keydrome::btree_olc
