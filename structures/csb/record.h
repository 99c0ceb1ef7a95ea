// Defines Record and Probe, and compares them. A Record is a (key, payload) pair that the tree
// stores. A Probe is a pair that a call looks for.
//
// Nodes store the *head* of a key next to the pointer to its record. The head has eight bytes of
// the key as a big-endian number, padded with zeros. If the heads of two keys differ, the keys have
// the order of their heads. So a search reads the record only if the heads are equal.
//
// Thread safety: a record never changes after it has been made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"
#include "structures/common/big_endian.h"

namespace keydrome::csb {

// A stored pair. In memory the key bytes and then the payload bytes follow the two size fields.
struct Record {
  uint8_t key_size;
  uint8_t payload_size;

  const uint8_t* key() const { return reinterpret_cast<const uint8_t*>(this + 1); }
  const uint8_t* payload() const { return key() + key_size; }
  KeydromeBytes key_bytes() const { return {key(), key_size}; }
  KeydromeBytes payload_bytes() const { return {payload(), payload_size}; }

  static size_t bytes(size_t key_size, size_t payload_size) {
    return sizeof(Record) + key_size + payload_size;
  }
  size_t bytes() const { return bytes(key_size, payload_size); }
};

// The pair that a call looks for. The bytes must stay valid during the call. If `past_key` is true,
// the payload is ignored, and the probe is larger than every pair with the same key.
struct Probe {
  uint64_t head;
  const uint8_t* key;
  const uint8_t* payload;
  uint32_t key_size;
  uint32_t payload_size;
  bool past_key;

  static Probe of(KeydromeBytes key, KeydromeBytes payload) {
    const auto* bytes = static_cast<const uint8_t*>(key.data);
    return {head_of(bytes, key.size),
            bytes,
            static_cast<const uint8_t*>(payload.data),
            key.size,
            payload.data == nullptr ? 0 : payload.size,
            false};
  }
  // Returns the probe of a scan: the pair at which the scan starts.
  static Probe of_scan(KeydromeBytes key, KeydromeBytes payload, bool after) {
    Probe probe = of(key, payload);
    probe.past_key = payload.data == nullptr && after;
    return probe;
  }
  static Probe of(const Record& record) { return of(record.key_bytes(), record.payload_bytes()); }
};

// Returns a number < 0, 0 or > 0 if `a` is smaller than, equal to or larger than `b`. A string is
// larger than each of its prefixes.
inline int compare(const uint8_t* a, uint32_t a_size, const uint8_t* b, uint32_t b_size) {
  const uint32_t common = std::min(a_size, b_size);
  const int order = common == 0 ? 0 : std::memcmp(a, b, common);
  if (order != 0) return order;
  return static_cast<int>(a_size) - static_cast<int>(b_size);
}

inline int compare_keys(const Record& record, const Probe& probe) {
  if (record.key_size == 8 && probe.key_size == 8) {
    const uint64_t head = head_of(record.key(), 8);
    return (head > probe.head) - (head < probe.head);
  }
  return compare(record.key(), record.key_size, probe.key, probe.key_size);
}

inline bool has_equal_key(const Probe& a, const Probe& b) {
  return compare(a.key, a.key_size, b.key, b.key_size) == 0;
}

// Compares a record with a probe. The result has the same meaning as for two strings.
inline int compare(const Record& record, const Probe& probe) {
  const int order = compare_keys(record, probe);
  if (order != 0) return order;
  if (probe.past_key) return -1;
  return compare(record.payload(), record.payload_size, probe.payload, probe.payload_size);
}

}  // namespace keydrome::csb
