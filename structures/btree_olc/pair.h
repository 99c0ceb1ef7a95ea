// Pair: key and payload, the unit that the tree stores. Pairs are ordered by key, then by payload.
// A key with several payloads is several pairs, so the tree needs no sets of payloads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"
#include "structures/btree_olc/shared.h"

namespace keydrome::btree_olc {

static_assert(std::endian::native == std::endian::little, "load_big() swaps bytes");

// Bytes that another object owns.
struct Span {
  const uint8_t* data;
  uint32_t size;

  static Span of(KeydromeBytes bytes) {
    return {static_cast<const uint8_t*>(bytes.data), bytes.size};
  }
  KeydromeBytes bytes() const { return {data, size}; }
};

struct Pair {
  Span key;
  Span payload;
};

inline uint64_t load_big(const uint8_t* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap64(value);
}
inline void store_big(uint8_t* to, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}

// Returns the eight bytes from `at` on as a big-endian number. Bytes past the end count as zero.
// Reads only bytes of the key: a zero-padded copy would delay the loads from it until its stores
// have left the store buffer.
inline uint64_t load_head(Span bytes, uint32_t at) {
  if (at + 8 <= bytes.size) return load_big(bytes.data + at);
  if (at >= bytes.size) return 0;
  const uint32_t left = bytes.size - at;
  if (bytes.size >= 8) return load_big(bytes.data + bytes.size - 8) << (64 - 8 * left);
  uint64_t head = 0;
  for (uint32_t i = 0; i < left; ++i) head |= uint64_t{bytes.data[at + i]} << (56 - 8 * i);
  return head;
}

// A place between pairs: before (key, payload), or after it if `after`, or after all payloads of
// the key if `past_key`.
struct Probe {
  Span key{};
  Span payload{};
  bool after = false;
  bool past_key = false;
  uint64_t key_head = load_head(key, 0);  // as heads are in nodes without a prefix

  static Probe at(const Pair& pair) { return {pair.key, pair.payload}; }
};

// `bytes` may belong to a leaf that changes.
inline int compare_bytes(Span bytes, Span other) {
  const int order = compare_shared(bytes.data, other.data, std::min(bytes.size, other.size));
  if (order != 0) return order;
  return bytes.size < other.size ? -1 : static_cast<int>(bytes.size > other.size);
}
inline bool equal_bytes(Span bytes, Span other) {
  return bytes.size == other.size && compare_shared(bytes.data, other.data, bytes.size) == 0;
}

// Returns < 0 if the pair is before the place, and 0 if the place is directly before the pair.
inline int compare(const Pair& pair, const Probe& probe) {
  const int order = compare_bytes(pair.key, probe.key);
  if (order != 0) return order;
  if (probe.past_key) return -1;
  const int payloads = compare_bytes(pair.payload, probe.payload);
  return payloads == 0 && probe.after ? -1 : payloads;
}

// A bound of the pairs below a node. No bound if it does not exist.
struct Fence {
  Pair pair;
  bool exists = false;
};

inline uint32_t common_bytes(Span a, Span b) {
  const uint32_t most = std::min(a.size, b.size);
  return static_cast<uint32_t>(std::mismatch(a.data, a.data + most, b.data).first - a.data);
}

// Returns the shortest pair s with left < s <= right (R. Bayer, K. Unterauer, "Prefix B-Trees",
// 1977). Its bytes are those of `right`.
inline Pair shortest_between(const Pair& left, const Pair& right) {
  const uint32_t keys = common_bytes(left.key, right.key);
  if (keys < right.key.size) return {{right.key.data, keys + 1}, {}};
  const uint32_t payloads = common_bytes(left.payload, right.payload);
  return {right.key, {right.payload.data, payloads + 1}};
}

}  // namespace keydrome::btree_olc
