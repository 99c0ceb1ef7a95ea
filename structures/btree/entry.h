// One stored pair, and the pair that a search looks for.
//
// A node keeps, beside each pointer to an Entry, the entry's *head*: the first eight key bytes as a
// big-endian number, padded with zero bytes. Most comparisons end there, without touching the
// entry's own cache line.
//
// Thread safety: entries never change after they were made.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"

namespace keydrome::btree {

// A header of two bytes, then the key bytes, then the payload bytes.
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
static_assert(std::endian::native == std::endian::little, "heads are made by a byte swap");

inline uint64_t head_of(const uint8_t* key, size_t size) {
  uint64_t head = 0;
  if (size >= sizeof head) {
    std::memcpy(&head, key, sizeof head);
    return __builtin_bswap64(head);
  }
  for (size_t i = 0; i < size; ++i) head |= uint64_t{key[i]} << (56 - 8 * i);
  return head;
}

// What a search looks for. Borrowed for the call. `past_key` stands for a payload that is larger
// than any.
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

// memcmp order, the shorter first on a common prefix; `common` leading bytes are known to be equal.
inline int compare_bytes(const uint8_t* a, uint32_t a_size, const uint8_t* b, uint32_t b_size,
                         uint32_t common = 0) {
  const uint32_t shorter = std::min(a_size, b_size);
  if (shorter > common) {
    const int order = std::memcmp(a + common, b + common, shorter - common);
    if (order != 0) return order;
  }
  return a_size < b_size ? -1 : static_cast<int>(a_size > b_size);
}

// Order of an entry relative to a probe with the same head: negative, zero, positive.
inline int compare_tied(const Entry& entry, const Probe& probe) {
  const uint32_t shorter = std::min<uint32_t>(entry.key_size, probe.key_size);
  const int order = compare_bytes(entry.key(), entry.key_size, probe.key, probe.key_size,
                                  std::min<uint32_t>(shorter, sizeof probe.head));
  if (order != 0) return order;
  if (probe.past_key) return -1;
  return compare_bytes(entry.payload(), entry.payload_size, probe.payload, probe.payload_size);
}

// Order of two entries, by key and then by payload.
inline int compare(const Entry& a, const Entry& b) {
  const int order = compare_bytes(a.key(), a.key_size, b.key(), b.key_size);
  if (order != 0) return order;
  return compare_bytes(a.payload(), a.payload_size, b.payload(), b.payload_size);
}

}  // namespace keydrome::btree
