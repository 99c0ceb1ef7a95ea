// Defines Link, the tagged pointer to a child in the adaptive radix tree. Besides the address, a
// link contains everything that a search must know about the child before it reads the child. So no
// search waits for a header of the child. The bits of a link:
//
//   bits  0 to  3   kind of the child
//   bits  4 to 47   address of the child, which is a multiple of 16
//   bits 48 to 63   node: its depth, the position of the digit that chooses a child (8 bits)
//                   leaf: size of the key (8 bits) and size of the payload (8 bits), in bytes
//                   page: number of pairs minus 1 (5 bits), whether it is uniform (page.h; 1 bit),
//                   and its size in units of 16 bytes (10 bits)
//                   word page: number of slots for pairs (6 bits)
//
// The address fits into 48 bits, because user space ends at 2^47 on x86-64 and at 2^48 on 64-bit
// ARM.
#pragma once

#include <atomic>
#include <cstdint>

namespace keydrome::art {

enum class Kind : uint8_t {
  kNone,
  kLeaf,   // one pair of key and payload
  kPage,   // 2 to kPagePairs pairs (page.h)
  kWords,  // a word page: up to kPagePairs pairs whose keys and payloads have 8 bytes (words.h)
  kFork,   // a node with two children: for an end mark, and for all other digits (node.h)
  kNode4,
  kNode16,
  kNode48,
  kNode256
};

// The largest number of pairs in a page.
inline constexpr uint32_t kPagePairs = 32;

class Link {
 public:
  Link() = default;  // Link() is empty; a variable without initialiser has no value

  static Link leaf(const void* bytes, uint32_t key_size, uint32_t payload_size) {
    return of(bytes, Kind::kLeaf, key_size | payload_size << 8);
  }
  // `bytes` is a multiple of kUnit.
  static Link page(const void* page, uint32_t pairs, bool uniform, uint32_t bytes) {
    return of(page, Kind::kPage, (pairs - 1) | uint32_t{uniform} << 5 | bytes / kUnit << 6);
  }
  static Link words(const void* words, uint32_t slots) { return of(words, Kind::kWords, slots); }
  static Link node(const void* node, Kind kind, uint32_t depth) { return of(node, kind, depth); }

  Kind kind() const { return static_cast<Kind>(bits_ & kKindMask); }
  bool is_none() const { return bits_ == 0; }
  bool is_node() const { return (bits_ & kKindMask) >= static_cast<uint64_t>(Kind::kFork); }
  uint32_t depth() const { return extra() & UINT8_MAX; }
  bool operator==(const Link&) const = default;

  template <class Type>
  Type* at() const {
    return reinterpret_cast<Type*>(bits_ & kAddressMask);
  }

  // REQUIRES: the child is a leaf.
  uint32_t key_size() const { return extra() & UINT8_MAX; }
  uint32_t payload_size() const { return extra() >> 8; }

  // REQUIRES: the child is a page.
  uint32_t page_pairs() const { return (extra() & 31) + 1; }
  bool is_uniform() const { return (extra() & 32) != 0; }
  uint32_t page_bytes() const { return (extra() >> 6) * kUnit; }

  // REQUIRES: the child is a word page.
  uint32_t slots() const { return extra(); }

  // Sizes of pages and all addresses are multiples of this.
  static constexpr uint32_t kUnit = 16;
  static constexpr uint32_t kPageBytesMax = kUnit << 10;  // exclusive

 private:
  friend class Slot;

  static constexpr uint64_t kKindMask = 15;
  static constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 16;

  static Link of(const void* address, Kind kind, uint32_t extra) {
    return Link(reinterpret_cast<uintptr_t>(address) | static_cast<uint64_t>(kind) |
                uint64_t{extra} << 48);
  }
  explicit Link(uint64_t bits) : bits_(bits) {}
  uint32_t extra() const { return static_cast<uint32_t>(bits_ >> 48); }

  uint64_t bits_;
};
static_assert(sizeof(Link) == 8);

// Stores a link, in a node or in the tree. The load is an acquire: it sees everything that the
// storing thread had written before, i.e. the child and all that is below it.
class Slot {
 public:
  Slot() = default;
  Link load() const { return Link(bits_.load(std::memory_order_acquire)); }
  void store(Link link) { bits_.store(link.bits_, std::memory_order_release); }

 private:
  std::atomic<uint64_t> bits_ = 0;
};
static_assert(sizeof(Slot) == 8);

}  // namespace keydrome::art
