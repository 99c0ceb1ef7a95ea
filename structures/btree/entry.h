// Defines Entry and Probe, and compares them. An Entry is a (key, payload) pair that the B+-tree
// stores. A Probe is a pair that a search looks for.
//
// Next to each pointer to an Entry, a node of the tree stores the entry's *head*: the first eight
// key bytes as a big-endian number, padded with zero bytes. If two heads differ, a search need not
// read the cache line of the entry. The heads decide most comparisons.
//
// Thread safety: an entry never changes after it has been made.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"

namespace keydrome::btree {

// A stored pair. In memory the key bytes and then the payload bytes follow the two size fields.
struct Entry {
  uint8_t key_size;
  uint8_t payload_size;

  const uint8_t* key() const { return reinterpret_cast<const uint8_t*>(this + 1); }
  const uint8_t* payload() const { return key() + key_size; }
  static size_t bytes(size_t key_size, size_t payload_size) {
    return sizeof(Entry) + key_size + payload_size;
  }
  size_t bytes() const { return bytes(key_size, payload_size); }
};
static_assert(KEYDROME_KEY_BYTES_MAX <= UINT8_MAX && KEYDROME_PAYLOAD_BYTES_MAX <= UINT8_MAX);
static_assert(std::endian::native == std::endian::little, "head_of() converts by a byte swap");

// Returns the head of a key of `size` bytes.
inline uint64_t head_of(const uint8_t* key, size_t size) {
  uint64_t head = 0;
  if (size >= sizeof head) {
    std::memcpy(&head, key, sizeof head);
    return __builtin_bswap64(head);
  }
  for (size_t i = 0; i < size; ++i) head |= uint64_t{key[i]} << (56 - 8 * i);
  return head;
}

// The pair that a search looks for. The bytes of key and payload must stay valid during the search.
// If `past_key` is true, the payload is ignored, and the probe is larger than every pair with the
// same key.
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
  static Probe of(const Entry& entry) {
    return of({entry.key(), entry.key_size}, {entry.payload(), entry.payload_size});
  }
};

// Compares two byte strings in memcmp order. If one is a prefix of the other, the shorter string is
// smaller. The caller guarantees that the first `common` bytes are equal. Returns a negative number
// if `a` is smaller, zero if both are equal, and a positive number if `a` is larger. The result of
// the comparisons below has the same meaning.
inline int compare_bytes(const uint8_t* a, uint32_t a_size, const uint8_t* b, uint32_t b_size,
                         uint32_t common = 0) {
  const uint32_t shorter = std::min(a_size, b_size);
  if (shorter > common) {
    const int order = std::memcmp(a + common, b + common, shorter - common);
    if (order != 0) return order;
  }
  return a_size < b_size ? -1 : static_cast<int>(a_size > b_size);
}

// Compares an entry with a probe that has the same head.
inline int compare_tied(const Entry& entry, const Probe& probe) {
  const uint32_t shorter = std::min<uint32_t>(entry.key_size, probe.key_size);
  const int order = compare_bytes(entry.key(), entry.key_size, probe.key, probe.key_size,
                                  std::min<uint32_t>(shorter, sizeof probe.head));
  if (order != 0) return order;
  if (probe.past_key) return -1;
  return compare_bytes(entry.payload(), entry.payload_size, probe.payload, probe.payload_size);
}

// Compares two entries by key and then by payload.
inline int compare(const Entry& a, const Entry& b) {
  const int order = compare_bytes(a.key(), a.key_size, b.key(), b.key_size);
  if (order != 0) return order;
  return compare_bytes(a.payload(), a.payload_size, b.payload(), b.payload_size);
}

}  // namespace keydrome::btree
