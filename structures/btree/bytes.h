// Byte strings: a view of them, their order, and the first eight bytes of a key as a number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"
#include "structures/common/big_endian.h"

namespace keydrome::btree {

// Bytes that another object owns.
struct Span {
  const uint8_t* data = nullptr;
  uint32_t size = 0;

  static Span of(KeydromeBytes bytes) {
    return {static_cast<const uint8_t*>(bytes.data), bytes.size};
  }
  KeydromeBytes bytes() const { return {data, size}; }
};

// Payloads of eight bytes are frequent. For this constant size, the compiler emits two moves
// instead of a call of memcpy.
inline void copy_bytes(void* to, const void* from, uint32_t size) {
  if (size == 8) {
    std::memcpy(to, from, 8);
  } else if (size > 0) {
    std::memcpy(to, from, size);
  }
}

inline void copy_payload(Span payload, KeydromeBuffer& to) {
  copy_bytes(to.data, payload.data, payload.size);
  to.size = payload.size;
}

// Compares in memcmp order. If one string is a prefix of the other, the shorter is smaller.
inline int compare_bytes(Span a, Span b) {
  const uint32_t shorter = std::min(a.size, b.size);
  const int order = shorter == 0 ? 0 : std::memcmp(a.data, b.data, shorter);
  if (order != 0) return order;
  return a.size < b.size ? -1 : static_cast<int>(a.size > b.size);
}

inline bool equal_bytes(Span a, Span b) {
  if (a.size != b.size) return false;
  if (a.size == 8) return std::memcmp(a.data, b.data, 8) == 0;
  return a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0;
}

// Returns the head (big_endian.h) of the bytes from `at` on: eight bytes as a big-endian number,
// padded with zeros.
inline uint64_t load_head(Span key, uint32_t at) {
  return keydrome::load_head(key.data, key.size, at);
}

// Returns one byte that depends on all bytes of the key. Equal keys have equal tags.
inline uint8_t tag_of(Span key) {
  uint64_t hash = key.size;
  for (uint32_t at = 0; at < key.size; at += 8) {
    hash = (hash ^ load_head(key, at)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return static_cast<uint8_t>(hash ^ (hash >> 8));
}

}  // namespace keydrome::btree
