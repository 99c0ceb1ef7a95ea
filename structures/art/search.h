// Searches inside one node: the child for a byte, the first child after a position, and any leaf
// of a subtree.
//
// Positions: in Fork, 0 is `end` and 1 is `rest`. In Node4 and Node16, a position is an index. In
// Node48 and Node256, it is a byte.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "structures/art/node.h"

namespace keydrome::art {

// Returns the index of `byte`, or the capacity of the node.
inline uint32_t index_of(const Node4& node, uint8_t byte) {
  constexpr uint32_t kOnes = 0x01010101;
  uint32_t bytes;
  std::memcpy(&bytes, node.bytes, sizeof bytes);
  // A byte of `zero` has its high bit set if the byte is equal. Bytes above an equal byte may have
  // it, too, but only the first one counts. Without an equal byte, `zero` is 0 and countr_zero 32.
  const uint32_t unequal = bytes ^ (kOnes * byte);
  const uint32_t zero = (unequal - kOnes) & ~unequal & (kOnes << 7);
  return static_cast<uint32_t>(std::countr_zero(zero)) / 8;
}

inline uint32_t index_of(const Node16& node, uint8_t byte) {
#if defined(__SSE2__)
  __m128i bytes;
  std::memcpy(&bytes, node.bytes, sizeof bytes);
  const __m128i equal = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(static_cast<char>(byte)));
  const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(equal));
  return static_cast<uint32_t>(std::countr_zero(mask | 1u << Node16::kCapacity));
#else
  uint32_t index = 0;
  while (index < Node16::kCapacity && node.bytes[index] != byte) ++index;
  return index;
#endif
}

// Asks for the cache lines of a small node at once. A search would otherwise wait for the line with
// the bytes before it asks for the line with the link.
inline void ask_for_all(const Node4& node) {
  __builtin_prefetch(reinterpret_cast<const char*>(&node) + sizeof node - 1);
}
inline void ask_for_all(const Node16& node) {
  const auto* first = reinterpret_cast<const char*>(&node);
  __builtin_prefetch(first + 64);
  __builtin_prefetch(first + 128);
  __builtin_prefetch(first + sizeof node - 1);
}

template <uint32_t kSize>
Link* child_in(SortedNode<kSize>& node, uint8_t byte) {
  ask_for_all(node);
  const uint32_t index = index_of(node, byte);
  return index == kSize ? nullptr : &node.children[index];
}

inline Link* child_in(Node48& node, uint8_t byte) {
  const uint32_t slot = node.slots[byte];
  return slot == 0 ? nullptr : &node.children[slot - 1];
}

inline Link* child_in(Node256& node, uint8_t byte) {
  Link* child = &node.children[byte];
  return child->is_none() ? nullptr : child;
}

// Returns the link to the child for `byte` of a node that is no fork, or nullptr.
inline Link* child_of(Link node, uint8_t byte) {
  switch (node.kind()) {
    case Kind::kNode4:
      return child_in(*node.at<Node4>(), byte);
    case Kind::kNode16:
      return child_in(*node.at<Node16>(), byte);
    case Kind::kNode48:
      return child_in(*node.at<Node48>(), byte);
    default:
      return child_in(*node.at<Node256>(), byte);
  }
}

// Returns the link to the child for a digit of any node, or nullptr.
inline Link* descend(Link node, int digit) {
  if (node.kind() == Kind::kFork) {
    auto* fork = node.at<Fork>();
    return digit == kEnd ? &fork->end : &fork->rest;
  }
  if (digit < 0 || digit > UINT8_MAX) return nullptr;
  return child_of(node, static_cast<uint8_t>(digit));
}

// Returns the position of the first child of a node (no fork) whose byte is larger than `digit`.
inline uint32_t position_after(Link node, int digit) {
  const auto rank = [digit](const auto& sorted) {
    uint32_t index = 0;
    while (index < sorted.count && sorted.bytes[index] <= digit) ++index;
    return index;
  };
  if (node.kind() == Kind::kNode4) return rank(*node.at<const Node4>());
  if (node.kind() == Kind::kNode16) return rank(*node.at<const Node16>());
  return static_cast<uint32_t>(digit + 1);
}

// Returns the first child at or after `position`, and moves `position` past it. Returns an empty
// link if there is none.
inline Link next_child(Link link, uint32_t& position) {
  switch (link.kind()) {
    case Kind::kFork: {
      const auto& fork = *link.at<const Fork>();
      if (position > 1) return Link();
      return position++ == 0 ? fork.end : fork.rest;
    }
    case Kind::kNode4: {
      const auto& node = *link.at<const Node4>();
      return position < node.count ? node.children[position++] : Link();
    }
    case Kind::kNode16: {
      const auto& node = *link.at<const Node16>();
      return position < node.count ? node.children[position++] : Link();
    }
    case Kind::kNode48: {
      const auto& node = *link.at<const Node48>();
      while (position < 256 && node.slots[position] == 0) ++position;
      return position < 256 ? node.children[node.slots[position++] - 1] : Link();
    }
    default: {
      const auto& node = *link.at<const Node256>();
      while (position < 256 && node.children[position].is_none()) ++position;
      return position < 256 ? node.children[position++] : Link();
    }
  }
}

// Returns the leaf with the smallest pair of a subtree.
inline Link minimum(Link link) {
  while (link.is_node()) {
    uint32_t position = 0;
    link = next_child(link, position);
  }
  return link;
}

}  // namespace keydrome::art
