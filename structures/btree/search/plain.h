// SearchPlain: the searches inside a node of the B+-tree, and operations on the bytes of keys. They
// use no vector instructions, so they run on any processor.
//
// The keys of a node are in eight groups of eight. The *summary* of the node repeats the first key
// of every group but the first. Unused places for keys contain the largest number, so a search need
// not know how many keys there are.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "structures/btree/bytes.h"
#include "structures/btree/fixed/node.h"

namespace keydrome::btree {

struct SearchPlain {
  static constexpr const char* kDescription = "B+-tree; searches nodes without vector instructions";

  // Returns how many of the seven numbers of the summary are <= `key`.
  KEYDROME_HOT uint32_t summary_at_most(const uint64_t* summary, uint64_t key) {
    uint32_t groups = 0;
    for (uint32_t i = 0; i < 7; ++i) groups += static_cast<uint32_t>(summary[i] <= key);
    return groups;
  }

  // Returns how many of eight ascending keys are < `key`, or <= `key` if `or_equal`.
  template <bool or_equal>
  KEYDROME_HOT uint32_t pairs_below(const Pair* pairs, uint64_t key) {
    uint32_t below = 0;
    for (uint32_t i = 0; i < 8; ++i) {
      below += static_cast<uint32_t>(or_equal ? pairs[i].key <= key : pairs[i].key < key);
    }
    return below;
  }

  // Returns how many of eight ascending heads are < `key`, or <= `key` if `or_equal`. A head is
  // eight bytes of a string key, as a number. Unlike keys in pairs, heads have no values between
  // them.
  template <bool or_equal>
  KEYDROME_HOT uint32_t heads_below(const uint64_t* heads, uint64_t key) {
    uint32_t below = 0;
    for (uint32_t i = 0; i < 8; ++i) {
      below += static_cast<uint32_t>(or_equal ? heads[i] <= key : heads[i] < key);
    }
    return below;
  }

  // Returns a mask of 64 bits. Bit i is 1 if byte i of `tags`, one-byte hashes of keys, equals
  // `tag`. Other bits may be 1, too.
  KEYDROME_HOT uint64_t match(const uint8_t* tags, uint8_t tag) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < 64; i += 8) {
      // Subtracting 1 from each byte sets the top bit of a byte that was zero. Higher bytes may
      // get a false bit from the borrow; the caller compares keys, so false bits only cost time.
      uint64_t bytes;
      std::memcpy(&bytes, tags + i, sizeof bytes);
      bytes ^= 0x0101010101010101u * tag;
      const uint64_t zero = (bytes - 0x0101010101010101u) & ~bytes & 0x8080808080808080u;
      mask |= ((zero >> 7) * 0x0102040810204080u >> 56) << i;
    }
    return mask;
  }

  // Compares `size` bytes, at most 128.
  KEYDROME_HOT int compare(const uint8_t* a, const uint8_t* b, uint32_t size) {
    return size == 0 ? 0 : std::memcmp(a, b, size);
  }
  // Returns how many of the first `size` bytes are equal.
  KEYDROME_HOT uint32_t common(const uint8_t* a, const uint8_t* b, uint32_t size) {
    return size == 0 ? 0 : static_cast<uint32_t>(std::mismatch(a, a + size, b).first - a);
  }
  // Copies `size` bytes, at most 128. May also write up to 64 bytes after them.
  KEYDROME_HOT void copy_loosely(uint8_t* to, const uint8_t* from, uint32_t size) {
    if (size > 0) std::memcpy(to, from, size);
  }
};

}  // namespace keydrome::btree
