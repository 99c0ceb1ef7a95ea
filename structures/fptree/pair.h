// Entry, Record, Fence and Probe: how the tree stores pairs of key and payload, and compares them.
//
// The *head* of a key is its first eight bytes as a big-endian number, padded with zeros. If the
// heads of two keys differ, the keys have the order of their heads. In a *narrow* tree all keys
// have the same size of at most eight bytes, so the head is the whole key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "keydrome/structure_class.h"
#include "structures/common/big_endian.h"

namespace keydrome::fptree {

using Bytes = std::string_view;

// The bytes of a pair outside its node. The key and then the payload follow in memory. Narrow trees
// store no key here. A record never changes.
struct Record {
  uint8_t key_size;
  uint8_t payload_size;

  static size_t bytes(size_t key_size, size_t payload_size) {
    return sizeof(Record) + key_size + payload_size;
  }
  size_t bytes() const { return bytes(key_size, payload_size); }
  Bytes key() const { return {reinterpret_cast<const char*>(this + 1), key_size}; }
  Bytes payload() const { return {key().data() + key_size, payload_size}; }
};

// A stored pair without its mark. The mark says what `content` is. If the mark is kOutside,
// `content` points to a record. Otherwise `content` is the payload, and the mark is its size.
struct Entry {
  uint64_t head;
  uint64_t content;
};
inline constexpr uint8_t kOutside = 0xFF;
inline constexpr size_t kInlineBytes = sizeof(uint64_t);

inline const Record* record_of(const Entry& entry) {
  return reinterpret_cast<const Record*>(entry.content);
}
// Returns the payload. The view may point into `entry`.
inline Bytes payload_of(const Entry& entry, uint8_t mark) {
  if (mark == kOutside) return record_of(entry)->payload();
  return {reinterpret_cast<const char*>(&entry.content), mark};
}

// The boundary between two nodes. Pairs that are not smaller than the fence belong to the right
// node. A fence without a record is smaller than all keys with its head.
struct Fence {
  uint64_t head = 0;
  Record* rest = nullptr;
};

// The pair that a call looks for. Its bytes must stay valid during the call.
struct Probe {
  uint64_t head;
  Bytes key;
  Bytes payload;
  bool past_key = false;  // larger than every pair with this key; the payload is then ignored

  static Probe of(KeydromeBytes key, KeydromeBytes payload) {
    return {head_of(view_of(key)), view_of(key), view_of(payload)};
  }
  // Returns the fingerprint of the key: one byte of its hash.
  uint8_t print(bool narrow) const {
    const uint64_t hash = narrow ? hash_mix(head, 0) : hash_bytes(key);
    return static_cast<uint8_t>(hash >> 32);
  }
};

inline int compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

// Compares two keys. Returns a number < 0, 0 or > 0 if the first is smaller, equal or larger.
inline int compare_keys(const Entry& entry, const Probe& probe, bool narrow) {
  const int order = compare(entry.head, probe.head);
  return order != 0 || narrow ? order : record_of(entry)->key().compare(probe.key);
}

inline int compare_payloads(Bytes payload, const Probe& probe) {
  return probe.past_key ? -1 : payload.compare(probe.payload);
}

inline int compare(const Entry& entry, uint8_t mark, const Probe& probe, bool narrow) {
  const int order = compare_keys(entry, probe, narrow);
  return order != 0 ? order : compare_payloads(payload_of(entry, mark), probe);
}

// Compares the record of a fence with a probe. Both must have the same head.
inline int compare_rest(const Record& rest, const Probe& probe, bool narrow) {
  const int order = narrow ? 0 : rest.key().compare(probe.key);
  return order != 0 ? order : compare_payloads(rest.payload(), probe);
}

}  // namespace keydrome::fptree
