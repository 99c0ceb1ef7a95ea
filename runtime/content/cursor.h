// Cursor: the place in an index from which the next read with a handle continues. Each transaction
// starts with the cursor before the first pair.
//
// A cursor stores a copy of the pair (key and payload) that was read last. The cursor therefore
// stays valid when this pair is deleted, and the next read sees pairs that the transaction has
// inserted in the meantime. The cursor also has a run: pairs that follow, which the structure has
// copied already. The run is valid only while `changes` equals the number of changes of the index.
#pragma once

#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"
#include "runtime/content/run.h"

namespace keydrome::runtime {

struct Cursor {
  enum class Place : uint8_t {
    kStart,      // before the first pair
    kAfterPair,  // after (key, payload), the pair that was read last
    kAfterKey,   // after `key`, which a get has searched for without success
  };

  Place place = Place::kStart;
  uint32_t key_size = 0;
  uint32_t payload_size = 0;
  uint64_t changes = 0;
  uint8_t key[KEYDROME_KEY_BYTES_MAX];
  uint8_t payload[KEYDROME_PAYLOAD_BYTES_MAX];
  Run run;

  void reset() {
    place = Place::kStart;
    run.drop();
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
