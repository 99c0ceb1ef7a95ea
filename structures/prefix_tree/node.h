// Defines Node, an inner node of the tree, and Slot, a tagged pointer to a node or a record.
//
// A node branches at the symbol with position `depth` (record.h). All pairs below the node share
// the symbols before this position, and no node stores these symbols. A node has at least two
// children, so there is no node for a position at which all its pairs agree.
//
//   bits     one bit for each byte, set if the byte has a child (256 bits)
//   ranks    number of children before each 64 bits; ranks[0] is 1 if the end mark has a child
//   children the children, in the order of their symbols, without gaps
//
// The nodes of the original prefix tree are arrays of 256 pointers. Ten million random keys would
// need two million such nodes of 2 KiB, each with two or three children. The bitmap costs some
// instructions, but no second cache line in small nodes: the header and three children have 64
// bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "structures/prefix_tree/record.h"

namespace keydrome::prefix_tree {

struct Node;

// A pointer to a node or to a record, or empty. Pointers to records have the lowest bit set.
class Slot {
 public:
  Slot() = default;
  explicit Slot(Node* node) : bits_(reinterpret_cast<uintptr_t>(node)) {}
  explicit Slot(Record* record) : bits_(reinterpret_cast<uintptr_t>(record) | kRecordBit) {}

  bool is_empty() const { return bits_ == 0; }
  bool is_record() const { return (bits_ & kRecordBit) != 0; }
  bool is_node() const { return bits_ != 0 && !is_record(); }
  Node* node() const { return reinterpret_cast<Node*>(bits_); }
  Record* record() const { return reinterpret_cast<Record*>(bits_ - kRecordBit); }
  [[gnu::always_inline]] void prefetch() const {
    __builtin_prefetch(reinterpret_cast<const void*>(bits_));
  }

 private:
  static constexpr uintptr_t kRecordBit = 1;
  uintptr_t bits_ = 0;
};

// Counts bits. Without -mpopcnt, which the build does not use, the compiler's built-in would be a
// slower call.
inline uint32_t count_bits(uint64_t bits) {
  bits -= (bits >> 1) & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  return static_cast<uint32_t>((bits * 0x0101010101010101u) >> 56);
}

struct Node {
  // The numbers of children that nodes can have room for. Nodes of the first five sizes have 1, 2,
  // 4, 8 and 16 cache lines.
  static constexpr std::array<uint16_t, 6> kCapacities = {3, 11, 27, 59, 123, 257};

  std::array<uint64_t, 4> bits;
  std::array<uint8_t, 4> ranks;
  uint8_t depth;
  uint8_t size_class;  // index of kCapacities
  uint16_t count;
  // The children follow the node in memory.

  Node(uint32_t node_depth, uint32_t node_class)
      : bits{},
        ranks{},
        depth(static_cast<uint8_t>(node_depth)),
        size_class(static_cast<uint8_t>(node_class)),
        count(0) {}

  static uint32_t class_for(uint32_t children) {
    uint32_t size_class = 0;
    while (kCapacities[size_class] < children) ++size_class;
    return size_class;
  }
  static size_t bytes(uint32_t size_class) {
    return sizeof(Node) + kCapacities[size_class] * sizeof(Slot);
  }
  uint32_t capacity() const { return kCapacities[size_class]; }
  bool is_full() const { return count == capacity(); }

  Slot* children() { return reinterpret_cast<Slot*>(this + 1); }
  const Slot* children() const { return reinterpret_cast<const Slot*>(this + 1); }

  bool has(uint32_t symbol) const {
    if (symbol == kEnd) return ranks[0] != 0;
    if (symbol == kPast) return false;
    const uint32_t byte = symbol - 1;
    return ((bits[byte / 64] >> (byte % 64)) & 1) != 0;
  }

  // Returns the number of children with smaller symbols.
  uint32_t rank(uint32_t symbol) const {
    if (symbol == kEnd) return 0;
    if (symbol == kPast) return count;
    const uint32_t byte = symbol - 1;
    const uint64_t below = (uint64_t{1} << (byte % 64)) - 1;
    return ranks[byte / 64] + count_bits(bits[byte / 64] & below);
  }

  // Returns the symbol of a child. Too slow for frequent use.
  uint32_t symbol_at(uint32_t index) const {
    if (index < ranks[0]) return kEnd;
    uint32_t word = 3;
    while (ranks[word] > index) --word;
    uint64_t left = bits[word];
    for (uint32_t skip = index - ranks[word]; skip > 0; --skip) left &= left - 1;
    return word * 64 + static_cast<uint32_t>(std::countr_zero(left)) + 1;
  }

  // Adds a child. The node must not be full, and must not have a child with this symbol.
  void insert(uint32_t symbol, Slot child) {
    const uint32_t index = rank(symbol);
    std::memmove(children() + index + 1, children() + index, (count - index) * sizeof(Slot));
    children()[index] = child;
    flip(symbol, +1);
  }

  void erase(uint32_t index) {
    const uint32_t symbol = symbol_at(index);
    std::memmove(children() + index, children() + index + 1, (count - index - 1) * sizeof(Slot));
    flip(symbol, -1);
  }

  // Appends the children [from, to) of another node. All of them must have larger symbols.
  void append(const Node& other, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; ++i) {
      children()[count] = other.children()[i];
      flip(other.symbol_at(i), +1);
    }
  }

  // Keeps only the first `kept` children.
  void truncate(uint32_t kept) {
    while (count > kept) flip(symbol_at(count - 1u), -1);
  }

 private:
  // Sets the bit of a symbol (change 1) or clears it (change -1), and updates the ranks.
  void flip(uint32_t symbol, int change) {
    uint32_t word = 0;
    if (symbol == kEnd) {
      ranks[0] = static_cast<uint8_t>(ranks[0] + change);
    } else {
      word = (symbol - 1) / 64;
      bits[word] ^= uint64_t{1} << ((symbol - 1) % 64);
    }
    for (uint32_t i = word + 1; i < ranks.size(); ++i) {
      ranks[i] = static_cast<uint8_t>(ranks[i] + change);
    }
    count = static_cast<uint16_t>(count + change);
  }
};
static_assert(sizeof(Node) == 40 && Node::kCapacities[0] * sizeof(Slot) + sizeof(Node) == 64);
static_assert(kSymbolsMax <= UINT8_MAX, "a node stores a depth in one byte");
inline constexpr size_t kNodeAlignment = 64;

// Returns the record with the smallest pair below a slot that is not empty.
inline Record* first_record(Slot slot) {
  while (!slot.is_record()) slot = slot.node()->children()[0];
  return slot.record();
}

// Returns the record with the largest pair below a slot that is not empty.
inline Record* last_record(Slot slot) {
  while (!slot.is_record()) slot = slot.node()->children()[slot.node()->count - 1];
  return slot.record();
}

}  // namespace keydrome::prefix_tree
