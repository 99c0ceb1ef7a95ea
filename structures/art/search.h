// Searches in one node of the adaptive radix tree (node.h): finds the slot of a byte, the first
// child after a position, or a leaf of the subtree. Other threads may change the node during the
// search.
//
// A *position* identifies a child of a node. In Fork, 0 is `end` and 1 is `rest`. In Node4 and
// Node16, a position is an index of `children`. In Node48 and Node256, it is the byte of the child.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "structures/art/node.h"

namespace keydrome::art {

// Returns the index of `byte` in the node, or the node's capacity if the byte is not there.
inline uint32_t index_of(const Node4& node, uint8_t byte) {
  constexpr uint32_t kOnes = 0x01010101;
  uint32_t bytes;
  std::memcpy(&bytes, node.bytes, sizeof bytes);
  // If element i equals `byte`, byte i of `zero` has its high bit set. Higher bytes may have this
  // bit set by mistake, but only the lowest one counts. If no element is equal, `zero` is 0, and
  // countr_zero returns 32.
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

// Prefetches all cache lines of a small node at once. Otherwise a search would wait for the line
// with the bytes before it requests the line with the link.
[[gnu::always_inline]] inline void ask_for_all(const Node4& node) {
  __builtin_prefetch(reinterpret_cast<const char*>(&node) + sizeof node - 1);
}
[[gnu::always_inline]] inline void ask_for_all(const Node16& node) {
  const auto* first = reinterpret_cast<const char*>(&node);
  __builtin_prefetch(first + 64);
  __builtin_prefetch(first + 128);
  __builtin_prefetch(first + sizeof node - 1);
}

template <uint32_t kSize>
Slot* slot_in(SortedNode<kSize>& node, uint8_t byte) {
  ask_for_all(node);
  const uint32_t index = index_of(node, byte);
  return index == kSize ? nullptr : &node.children[index];
}

// Acquire: a thread that sees the index also sees the link in the slot. Pairs with the release in
// fill_slot().
inline Slot* slot_in(Node48& node, uint8_t byte) {
  const uint32_t index = node.index[byte].load(std::memory_order_acquire);
  return index == 0 ? nullptr : &node.children[index - 1];
}

inline Slot* slot_in(Node256& node, uint8_t byte) { return &node.children[byte]; }

// Returns the slot for `byte` in a node that is not a fork, or nullptr if the byte has no slot. The
// slot may be empty.
inline Slot* slot_of(Link node, uint8_t byte) {
  switch (node.kind()) {
    case Kind::kNode4:
      return slot_in(*node.at<Node4>(), byte);
    case Kind::kNode16:
      return slot_in(*node.at<Node16>(), byte);
    case Kind::kNode48:
      return slot_in(*node.at<Node48>(), byte);
    default:
      return slot_in(*node.at<Node256>(), byte);
  }
}

// Returns the slot for a digit in any node, or nullptr if the digit has no slot.
inline Slot* descend(Link node, int digit) {
  if (node.kind() == Kind::kFork) {
    auto* fork = node.at<Fork>();
    return digit == kEnd ? &fork->end : &fork->rest;
  }
  if (digit < 0 || digit > UINT8_MAX) return nullptr;
  return slot_of(node, static_cast<uint8_t>(digit));
}

// Returns the first position whose byte is larger than `digit`. The node must not be a fork.
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

// The functions `next_in` return the first child at or after `position`, and move `position` past
// this child. If there is no such child, they return an empty link.

inline Link next_in(const Fork& fork, uint32_t& position) {
  if (position > 1) return Link();
  return position++ == 0 ? fork.end.load() : fork.rest.load();
}

template <uint32_t kSize>
Link next_in(const SortedNode<kSize>& node, uint32_t& position) {
  while (position < node.count) {
    const Link child = node.children[position++].load();
    if (!child.is_none()) return child;
  }
  return Link();
}

inline Link next_in(const Node48& node, uint32_t& position) {
  while (position < 256) {
    const uint32_t index = node.index[position++].load(std::memory_order_acquire);
    if (index == 0) continue;
    const Link child = node.children[index - 1].load();
    if (!child.is_none()) return child;
  }
  return Link();
}

inline Link next_in(const Node256& node, uint32_t& position) {
  while (position < 256) {
    const Link child = node.children[position++].load();
    if (!child.is_none()) return child;
  }
  return Link();
}

// Calls `function` with a reference to the node, in its own type.
template <class Function>
decltype(auto) with_node(Link node, Function&& function) {
  switch (node.kind()) {
    case Kind::kFork:
      return function(*node.at<Fork>());
    case Kind::kNode4:
      return function(*node.at<Node4>());
    case Kind::kNode16:
      return function(*node.at<Node16>());
    case Kind::kNode48:
      return function(*node.at<Node48>());
    default:
      return function(*node.at<Node256>());
  }
}

inline Link next_child(Link link, uint32_t& position) {
  return with_node(link, [&](const auto& node) { return next_in(node, position); });
}

// The lock is the first member of every node.
inline Lock& lock_of(Link node) { return *node.at<Lock>(); }
static_assert(offsetof(Fork, lock) == 0 && offsetof(Node4, lock) == 0);
static_assert(offsetof(Node16, lock) == 0 && offsetof(Node48, lock) == 0);
static_assert(offsetof(Node256, lock) == 0);

// Returns the leaf or page with the smallest pairs of a subtree. Returns an empty link if the
// subtree is empty. The same may happen if other threads change a node while this search reads its
// slots one after the other: they may delete all children that are still to be read.
inline Link minimum(Link link) {
  while (link.is_node()) {
    uint32_t position = 0;
    link = next_child(link, position);
  }
  return link;
}

}  // namespace keydrome::art
