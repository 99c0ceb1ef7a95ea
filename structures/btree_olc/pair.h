// Pair: key and payload, the unit that the tree stores. Pairs are ordered by key, then by payload.
// A key with several payloads is several pairs, so the tree needs no sets of payloads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"
#include "structures/btree_olc/shared.h"
#include "structures/common/big_endian.h"

namespace keydrome::btree_olc {

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

// Returns the head (big_endian.h) of the bytes from `at` on: eight bytes as a big-endian number,
// padded with zeros.
inline uint64_t load_head(Span bytes, uint32_t at) {
  return keydrome::load_head(bytes.data, bytes.size, at);
}

// A place between two pairs: directly before (key, payload). If `after` is true, it is directly
// after this pair; if `past_key` is true, after all pairs with the key.
struct Probe {
  Span key{};
  Span payload{};
  bool after = false;
  bool past_key = false;
  uint64_t key_head = load_head(key, 0);  // the head in nodes without a prefix

  static Probe at(const Pair& pair) { return {pair.key, pair.payload}; }
};

// Compares in memcmp order. Another thread may change `bytes` meanwhile; the result is then
// meaningless.
inline int compare_bytes(Span bytes, Span other) {
  const int order = compare_shared(bytes.data, other.data, std::min(bytes.size, other.size));
  if (order != 0) return order;
  return bytes.size < other.size ? -1 : static_cast<int>(bytes.size > other.size);
}
inline bool equal_bytes(Span bytes, Span other) {
  return bytes.size == other.size && compare_shared(bytes.data, other.data, bytes.size) == 0;
}

// Returns < 0 if the pair is before the place of the probe, 0 if it is directly after this place,
// and otherwise > 0.
inline int compare(const Pair& pair, const Probe& probe) {
  const int order = compare_bytes(pair.key, probe.key);
  if (order != 0) return order;
  if (probe.past_key) return -1;
  const int payloads = compare_bytes(pair.payload, probe.payload);
  return payloads == 0 && probe.after ? -1 : payloads;
}

// A bound of the pairs below a node. There is no bound if `exists` is false.
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
