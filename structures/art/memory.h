// Memory: makes and frees the nodes, leaves and pages of the adaptive radix tree. It takes memory
// from the KeydromeEnvironment (keydrome/structure.h), which the caller of `create` provides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "keydrome/structure.h"
#include "structures/art/node.h"
#include "structures/art/page.h"
#include "structures/art/words.h"

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

inline void copy_bytes(uint8_t* to, const uint8_t* from, uint32_t size) {
  if (size == sizeof(uint64_t)) {
    std::memcpy(to, from, sizeof(uint64_t));
  } else if (size > 0) {
    std::memcpy(to, from, size);
  }
}

// Thread-safe.
class Memory {
 public:
  explicit Memory(const KeydromeEnvironment& environment) : environment_(environment) {}

  const KeydromeEnvironment& environment() const { return environment_; }

  // Makes a node with empty slots. Returns an empty link if out of memory.
  template <class Node>
  Link make_node(uint32_t depth) const {
    void* memory = allocate(sizeof(Node));
    return memory == nullptr ? Link() : Link::node(new (memory) Node{}, kKindOf<Node>, depth);
  }

  // Returns memory for a leaf or page, or nullptr if out of memory.
  uint8_t* allocate_pairs(uint32_t bytes) const { return static_cast<uint8_t*>(allocate(bytes)); }

  // The allocated size of a page of `bytes` bytes, or of a leaf whose key and payload have `bytes`
  // bytes. Page::matches reads 16 tags, so a page has at least 32 bytes.
  static uint32_t leaf_bytes(uint32_t bytes) { return std::max(round_up(bytes), Link::kUnit); }
  static uint32_t page_bytes(uint32_t bytes) { return std::max(round_up(bytes), 2 * Link::kUnit); }

  // Makes an empty word page with this number of slots. Returns an empty link if out of memory.
  Link make_words(uint32_t slots) const {
    void* memory = environment_.allocate(environment_.context, Words::bytes_for(slots),
                                         Words::alignment_for(slots));
    return memory == nullptr ? Link() : Words::make(memory, slots);
  }

  // Frees the node, leaf or page of a link, but not its children.
  void drop(Link link) const {
    const size_t alignment =
        link.kind() == Kind::kWords ? Words::alignment_for(link.slots()) : kAlignment;
    environment_.retire(environment_.context, link.at<void>(), size_of(link), alignment);
  }

 private:
  static constexpr size_t kAlignment = Link::kUnit;

  static uint32_t round_up(uint32_t bytes) {
    return (bytes + Link::kUnit - 1) / Link::kUnit * Link::kUnit;
  }
  void* allocate(size_t bytes) const {
    return environment_.allocate(environment_.context, bytes, kAlignment);
  }
  static size_t size_of(Link link) {
    switch (link.kind()) {
      case Kind::kLeaf:
        return leaf_bytes(link.key_size() + link.payload_size());
      case Kind::kPage:
        return link.page_bytes();
      case Kind::kWords:
        return Words::bytes_for(link.slots());
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
};

}  // namespace keydrome::art
