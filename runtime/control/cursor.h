// Where the reads of one handle in one transaction stand.
//
// A cursor is a place in the order of pairs, given by value, so it survives the deletion of its
// pair and sees own inserts ahead of it. The structure's position is kept beside it as a shortcut
// and is only good while `changes` equals the index's count of changes.
#pragma once

#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"

namespace keydrome::runtime {

struct Cursor {
  enum class Place : uint8_t {
    kStart,      // before the first pair
    kAfterPair,  // after (key, payload), the last pair that was read
    kAfterKey,   // after all pairs of `key`, which a get did not find
  };

  Place place = Place::kStart;
  bool has_position = false;
  uint32_t key_size = 0;
  uint32_t payload_size = 0;
  uint64_t changes = 0;
  KeydromePosition position;
  uint8_t key[KEYDROME_KEY_BYTES_MAX];
  uint8_t payload[KEYDROME_PAYLOAD_BYTES_MAX];

  void reset() {
    place = Place::kStart;
    has_position = false;
  }

  KeydromeBytes key_bytes() const { return {key, key_size}; }
  KeydromeBytes payload_bytes() const { return {payload, payload_size}; }

  void set_key(KeydromeBytes bytes) {
    key_size = bytes.size;
    if (bytes.size == sizeof(int64_t)) return copy_int64(bytes.data);
    if (bytes.size > 0) std::memcpy(key, bytes.data, bytes.size);
  }
  void copy_int64(const void* data) { std::memcpy(key, data, sizeof(int64_t)); }
  void set_payload(KeydromeBytes bytes) {
    payload_size = bytes.size;
    if (bytes.size > 0) std::memcpy(payload, bytes.data, bytes.size);
  }
};

}  // namespace keydrome::runtime
