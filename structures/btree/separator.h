// Computes the shortest separator between two adjacent pairs of the B+-tree. A separator is an
// entry in an inner node that divides the ranges of two children (node.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "structures/btree/entry.h"

namespace keydrome::btree {

// The size of the shortest separator s with left < s <= right. The key of s is a prefix of right's
// key, and the payload of s is a prefix of right's payload. So the two lengths define s. Short
// separators save memory.
struct SeparatorSize {
  uint32_t key_size;
  uint32_t payload_size;
};

inline SeparatorSize separator_size(const Entry& left, const Entry& right) {
  const auto common = [](const uint8_t* a, uint32_t a_size, const uint8_t* b, uint32_t b_size) {
    const uint32_t shorter = std::min(a_size, b_size);
    return static_cast<uint32_t>(std::mismatch(a, a + shorter, b).first - a);
  };
  const uint32_t keys = common(left.key(), left.key_size, right.key(), right.key_size);
  if (keys < right.key_size) return {keys + 1, 0};
  const uint32_t payloads =
      common(left.payload(), left.payload_size, right.payload(), right.payload_size);
  return {right.key_size, payloads + 1};
}

}  // namespace keydrome::btree
