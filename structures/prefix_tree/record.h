// Defines Record and Probe, and compares them. A Record is a (key, payload) pair that the tree
// stores. A Probe is a pair that a call looks for.
//
// The tree sees a pair as a sequence of *symbols*: the bytes of the key, an end mark, the bytes of
// the payload, and an end mark. A byte b has the symbol b + 1, and an end mark has the symbol 0. So
// a key comes before longer keys that begin with it, and no sequence is a prefix of another.
// Therefore one trie can contain keys of all sizes, and any number of payloads of one key.
//
// Thread safety: only Tree::replace changes a record, and it has exclusive access.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"

namespace keydrome::prefix_tree {

inline constexpr uint32_t kEnd = 0;
// Larger than every symbol. A probe that is larger than all payloads of a key has this symbol after
// the end mark of the key.
inline constexpr uint32_t kPast = 257;
inline constexpr uint32_t kSymbolsMax = KEYDROME_KEY_BYTES_MAX + KEYDROME_PAYLOAD_BYTES_MAX + 2;
// The result of first_difference() if no symbol differs. Larger than every depth.
inline constexpr uint32_t kEqual = kSymbolsMax;

// A stored pair. In memory the key bytes and then the payload bytes follow the two size fields.
struct Record {
  uint8_t key_size;
  uint8_t payload_size;

  const uint8_t* key() const { return reinterpret_cast<const uint8_t*>(this + 1); }
  uint8_t* payload() { return reinterpret_cast<uint8_t*>(this + 1) + key_size; }
  const uint8_t* payload() const { return key() + key_size; }
  KeydromeBytes key_bytes() const { return {key(), key_size}; }
  KeydromeBytes payload_bytes() const { return {payload(), payload_size}; }

  static size_t bytes(size_t key_size, size_t payload_size) {
    return sizeof(Record) + key_size + payload_size;
  }
  size_t bytes() const { return bytes(key_size, payload_size); }
};
// An alignment that keeps the lowest bit of a record's address free, because Slot uses this bit.
inline constexpr size_t kRecordAlignment = 2;

// Returns the number of leading bytes that are equal.
inline uint32_t equal_bytes(const uint8_t* a, const uint8_t* b, uint32_t size) {
  static_assert(std::endian::native == std::endian::little,
                "equal_bytes() needs a little-endian machine: it takes the lowest bits of a word "
                "as the first byte");
  uint32_t at = 0;
  for (; at + 8 <= size; at += 8) {
    uint64_t x, y;
    std::memcpy(&x, a + at, 8);
    std::memcpy(&y, b + at, 8);
    if (x != y) return at + static_cast<uint32_t>(std::countr_zero(x ^ y)) / 8;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

// The pair that a call looks for. The bytes must stay valid during the call. If `past_key` is true,
// the payload is ignored, and the probe is larger than every pair with the same key.
struct Probe {
  const uint8_t* key;
  const uint8_t* payload;
  uint32_t key_size;
  uint32_t payload_size;
  bool past_key;

  static Probe of(KeydromeBytes key, KeydromeBytes payload) {
    return {static_cast<const uint8_t*>(key.data), static_cast<const uint8_t*>(payload.data),
            key.size, payload.data == nullptr ? 0 : payload.size, false};
  }
  // Returns the probe of a scan: the pair at which the scan starts.
  static Probe of_scan(KeydromeBytes key, KeydromeBytes payload, bool after) {
    Probe probe = of(key, payload);
    probe.past_key = payload.data == nullptr && after;
    return probe;
  }
  static Probe of(const Record& record) {
    return {record.key(), record.payload(), record.key_size, record.payload_size, false};
  }

  // Returns the symbol at a position, which must not be after the last symbol of the probe.
  uint32_t symbol(uint32_t position) const {
    if (position < key_size) return key[position] + 1u;
    if (position == key_size) return kEnd;
    if (past_key) return kPast;
    const uint32_t byte = position - key_size - 1;
    return byte < payload_size ? payload[byte] + 1u : kEnd;
  }

  // Returns the position of the first symbol in which the record differs, or kEqual.
  uint32_t first_difference(const Record& record) const {
    const uint32_t key_common =
        equal_bytes(key, record.key(), std::min<uint32_t>(key_size, record.key_size));
    if (key_common < key_size || key_common < record.key_size) return key_common;
    if (past_key) return key_size + 1;
    const uint32_t common = equal_bytes(payload, record.payload(),
                                        std::min<uint32_t>(payload_size, record.payload_size));
    if (common == payload_size && common == record.payload_size) return kEqual;
    return key_size + 1 + common;
  }
};

inline uint32_t symbol_of(const Record& record, uint32_t position) {
  return Probe::of(record).symbol(position);
}

}  // namespace keydrome::prefix_tree
