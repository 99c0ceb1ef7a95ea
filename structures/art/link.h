// Defines Link, the tagged pointer to a child. Besides the address, a link contains what a search
// must know about the child before it reads it, so no search waits for a header:
//
//   bits  0 to  2   kind of the child
//   bits  3 to 47   address of the child, which is a multiple of 8
//   bits 48 to 55   node: its depth, the position of the digit that chooses a child
//                   leaf: size of the key in bytes
//   bits 56 to 63   leaf: size of the payload in bytes
//
// The address fits because user space ends at 2^47 on x86-64 and at 2^48 on 64-bit ARM.
#pragma once

#include <cstdint>

#include "structures/art/pair.h"

namespace keydrome::art {

enum class Kind : uint8_t { kNone, kLeaf, kFork, kNode4, kNode16, kNode48, kNode256 };
inline constexpr uint32_t kKinds = 7;

class Link {
 public:
  Link() = default;  // Link() is empty; a variable without initialiser has no value

  static Link leaf(const void* bytes, uint32_t key_size, uint32_t payload_size) {
    return Link(reinterpret_cast<uintptr_t>(bytes) | static_cast<uint64_t>(Kind::kLeaf) |
                uint64_t{key_size} << kDepthShift | uint64_t{payload_size} << kPayloadShift);
  }
  static Link node(const void* node, Kind kind, uint32_t depth) {
    return Link(reinterpret_cast<uintptr_t>(node) | static_cast<uint64_t>(kind) |
                uint64_t{depth} << kDepthShift);
  }

  Kind kind() const { return static_cast<Kind>(bits_ & kKindMask); }
  bool is_none() const { return bits_ == 0; }
  bool is_node() const { return (bits_ & kKindMask) >= static_cast<uint64_t>(Kind::kFork); }
  uint32_t depth() const { return static_cast<uint32_t>(bits_ >> kDepthShift) & UINT8_MAX; }

  template <class Type>
  Type* at() const {
    return reinterpret_cast<Type*>(bits_ & kAddressMask);
  }

  // The pair in a leaf.
  uint32_t key_size() const { return depth(); }
  uint32_t payload_size() const { return static_cast<uint32_t>(bits_ >> kPayloadShift); }
  Pair pair() const {
    const auto* bytes = at<const uint8_t>();
    return {bytes, bytes + key_size(), key_size(), payload_size()};
  }

 private:
  static constexpr uint64_t kKindMask = 7;
  static constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 8;
  static constexpr uint32_t kDepthShift = 48;
  static constexpr uint32_t kPayloadShift = 56;

  explicit Link(uint64_t bits) : bits_(bits) {}

  uint64_t bits_;
};
static_assert(sizeof(Link) == 8);

}  // namespace keydrome::art
