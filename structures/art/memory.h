// Memory: makes and frees the nodes and leaves of the tree, and counts them. It takes memory from
// the KeydromeEnvironment (keydrome/structure.h), which the caller of `create` provides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "keydrome/structure.h"
#include "structures/art/node.h"

namespace keydrome::art {

template <class Type>
inline constexpr Kind kKindOf = Kind::kNone;
template <>
inline constexpr Kind kKindOf<Fork> = Kind::kFork;
template <>
inline constexpr Kind kKindOf<Node4> = Kind::kNode4;
template <>
inline constexpr Kind kKindOf<Node16> = Kind::kNode16;
template <>
inline constexpr Kind kKindOf<Node48> = Kind::kNode48;
template <>
inline constexpr Kind kKindOf<Node256> = Kind::kNode256;

// Not thread-safe. Only functions that have the tree for themselves use it.
class Memory {
 public:
  explicit Memory(const KeydromeEnvironment& environment) : environment_(environment) {}

  const KeydromeEnvironment& environment() const { return environment_; }
  uint64_t count(Kind kind) const { return counts_[static_cast<uint32_t>(kind)]; }

  // The functions make_... return an empty link if out of memory.

  // Copies the bytes of a pair to a new leaf.
  Link make_leaf(const Pair& pair) {
    const uint32_t bytes = pair.key_size + pair.payload_size;
    auto* memory = static_cast<uint8_t*>(
        environment_.allocate(environment_.context, leaf_size(bytes), leaf_alignment(bytes)));
    if (memory == nullptr) return Link();
    copy(memory, pair.key, pair.key_size);
    copy(memory + pair.key_size, pair.payload, pair.payload_size);
    ++counts_[static_cast<uint32_t>(Kind::kLeaf)];
    return Link::leaf(memory, pair.key_size, pair.payload_size);
  }

  // Makes a node of zero bytes.
  template <class Node>
  Link make_node(uint32_t depth) {
    void* memory = environment_.allocate(environment_.context, sizeof(Node), kNodeAlignment);
    if (memory == nullptr) return Link();
    ++counts_[static_cast<uint32_t>(kKindOf<Node>)];
    return Link::node(new (memory) Node{}, kKindOf<Node>, depth);
  }

  // Frees a leaf or a node, without its children.
  void drop(Link link) {
    --counts_[static_cast<uint32_t>(link.kind())];
    const bool leaf = link.kind() == Kind::kLeaf;
    const uint32_t bytes = leaf ? link.key_size() + link.payload_size() : 0;
    environment_.retire(environment_.context, link.at<void>(),
                        leaf ? leaf_size(bytes) : node_size(link.kind()),
                        leaf ? leaf_alignment(bytes) : kNodeAlignment);
  }

  static void copy(uint8_t* to, const uint8_t* from, uint32_t size) {
    if (size == sizeof(uint64_t)) {
      std::memcpy(to, from, sizeof(uint64_t));
    } else if (size > 0) {
      std::memcpy(to, from, size);
    }
  }

 private:
  static constexpr size_t kNodeAlignment = 8;

  // Leaves begin at multiples of 8, because a link has no bits for the others.
  static size_t leaf_size(uint32_t bytes) { return bytes == 0 ? 8 : (bytes + 7u) & ~size_t{7}; }
  // A leaf of 16 bytes is never in two cache lines.
  static size_t leaf_alignment(uint32_t bytes) { return leaf_size(bytes) % 16 == 0 ? 16 : 8; }

  static size_t node_size(Kind kind) {
    switch (kind) {
      case Kind::kFork:
        return sizeof(Fork);
      case Kind::kNode4:
        return sizeof(Node4);
      case Kind::kNode16:
        return sizeof(Node16);
      case Kind::kNode48:
        return sizeof(Node48);
      default:
        return sizeof(Node256);
    }
  }

  KeydromeEnvironment environment_;
  uint64_t counts_[kKinds] = {};
};

}  // namespace keydrome::art
