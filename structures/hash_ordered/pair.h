// Node: a stored pair. Probe: a pair that a call looks for. Both are sequences of symbols.
//
// The symbols of a pair are the bytes of its key and then those of its payload. Keys of different
// sizes need an end mark between them, because the key "a" must come before the key "ab" with any
// payloads. So a symbol is a byte plus 1, and 0 is the end of the key or of the payload.
// The lexicographic order of the symbols is the order of contract B, the interface of a data
// structure (keydrome/structure.h).
//
// Thread safety: pure functions and plain data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "keydrome/structure_class.h"
#include "structures/common/big_endian.h"

namespace keydrome::hash_ordered {

inline constexpr uint32_t kEnd = 0;
inline constexpr uint32_t kLargest = 256;

// The pair that a call looks for. Its bytes must stay valid as long as the probe. If `past_key` is
// true, the payload is empty and the probe is larger than every pair with the same key.
struct Probe {
  uint64_t head;  // of the key
  std::string_view key;
  std::string_view payload;
  bool past_key;

  static Probe of(KeydromeBytes key, KeydromeBytes payload, bool past_key = false) {
    return {head_of(view_of(key)), view_of(key), view_of(payload), past_key};
  }

  // Returns symbol `i`. `mark` is 1 if an end mark follows the key, and 0 if all keys of the
  // instance have the same size.
  uint32_t symbol(uint32_t i, uint32_t mark) const {
    if (i < key.size()) return 1 + static_cast<uint8_t>(key[i]);
    i -= static_cast<uint32_t>(key.size());
    if (i < mark) return kEnd;
    if (past_key) return kLargest;
    i -= mark;
    return i < payload.size() ? 1 + static_cast<uint8_t>(payload[i]) : kEnd;
  }
};

// A stored pair, as an element of a linked list. The bytes of key and payload follow it in memory.
struct Node {
  static constexpr size_t kDataAt = sizeof(void*) + 2;  // where the bytes begin

  Node* next;
  uint8_t key_size, payload_size;

  // Returns the size of a node in bytes. It need not be a multiple of the alignment.
  static size_t bytes(size_t key_size, size_t payload_size) {
    return std::max(sizeof(Node), kDataAt + key_size + payload_size);
  }
  size_t bytes() const { return bytes(key_size, payload_size); }

  char* data() { return reinterpret_cast<char*>(this) + kDataAt; }
  const char* data() const { return reinterpret_cast<const char*>(this) + kDataAt; }
  std::string_view key() const { return {data(), key_size}; }
  std::string_view payload() const { return {data() + key_size, payload_size}; }
  Probe probe() const { return {head_of(key()), key(), payload(), false}; }
};

// Compares the key of the node with that of the probe. Returns < 0 if it is smaller, 0 if it is
// equal, and > 0 if it is larger.
inline int compare_keys(const Node& node, const Probe& probe) {
  const uint64_t head = head_of(node.key());
  if (head != probe.head) return head < probe.head ? -1 : 1;
  if (node.key_size == probe.key.size() && node.key_size <= sizeof head) return 0;
  return node.key().compare(probe.key);
}

inline int compare(const Node& node, const Probe& probe) {
  const int order = compare_keys(node, probe);
  if (order != 0) return order;
  return probe.past_key ? -1 : node.payload().compare(probe.payload);
}

// Returns how many leading symbols the pairs have in common, at most `limit`.
inline uint32_t common_symbols(const Probe& a, const Probe& b, uint32_t mark, uint32_t limit) {
  const auto shorter = static_cast<uint32_t>(std::min(a.key.size(), b.key.size()));
  const uint32_t most = std::min(limit, shorter);
  uint32_t common = 0;
  while (common < most && a.key[common] == b.key[common]) ++common;
  if (common < shorter) return common;
  while (common < limit && a.symbol(common, mark) == b.symbol(common, mark)) ++common;
  return common;
}

}  // namespace keydrome::hash_ordered
