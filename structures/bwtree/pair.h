// Pair: key and payload, the unit that the tree stores. Probe: a position between pairs.
//
// Pairs are ordered by key, then by payload. A key with several payloads is several pairs.
//
// Thread safety: plain values, which do not synchronise threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "keydrome/structure_class.h"
#include "structures/common/big_endian.h"

namespace keydrome::bwtree {

// The bytes belong to the owner of the pair.
struct Pair {
  std::string_view key;
  std::string_view payload;
};

// A position: directly before (key, payload), or directly after this pair if `after` is true, or
// after all pairs with the key if `past_key` is true. The bytes must stay valid during the call.
struct Probe {
  std::string_view key;
  std::string_view payload;
  bool after = false;
  bool past_key = false;
  uint64_t head = head_of(key);

  static Probe at(const Pair& pair) { return {pair.key, pair.payload}; }
};

// Compares as memcmp does. Most keys and payloads have eight bytes, and need no call.
inline int compare(std::string_view a, std::string_view b) {
  if (a.size() == 8 && b.size() == 8) {
    const uint64_t left = load_big(a.data());
    const uint64_t right = load_big(b.data());
    return left < right ? -1 : static_cast<int>(left > right);
  }
  return a.compare(b);
}

inline int compare(const Pair& a, const Pair& b) {
  const int keys = compare(a.key, b.key);
  return keys != 0 ? keys : compare(a.payload, b.payload);
}

// Returns < 0 if the pair is before the position, 0 if it is the first pair after it, and
// otherwise > 0.
inline int compare(const Pair& pair, const Probe& probe) {
  const int keys = compare(pair.key, probe.key);
  if (keys != 0) return keys;
  if (probe.past_key) return -1;
  const int payloads = compare(pair.payload, probe.payload);
  return payloads == 0 && probe.after ? -1 : payloads;
}

inline uint32_t common_bytes(std::string_view a, std::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  return static_cast<uint32_t>(std::mismatch(a.begin(), a.begin() + most, b.begin()).first -
                               a.begin());
}

// Returns the shortest pair s with left < s <= right (R. Bayer, K. Unterauer, "Prefix B-Trees",
// TODS 1977). Its bytes are those of `right`.
inline Pair shortest_between(const Pair& left, const Pair& right) {
  const uint32_t keys = common_bytes(left.key, right.key);
  if (keys < right.key.size()) return {right.key.substr(0, keys + 1), {}};
  return {right.key, right.payload.substr(0, common_bytes(left.payload, right.payload) + 1)};
}

}  // namespace keydrome::bwtree
