// Converts between the pools (numbered keys and texts, format/program.h) and the Records, Keys and
// payloads that the player, the process that calls the library, exchanges with it.
//
// Thread safety: pure functions of their arguments.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/player/arguments.h"
#include "benchmarks/kit/player/pools_view.h"
#include "keydrome/index.h"

namespace keydrome::player {

// Returns an integer key of the pools as 64 bits. An int32 key is in the lower 32 bits.
template <KeyType kType>
uint64_t integer_bits(const PoolsView& pools, uint32_t number) {
  static_assert(kType == SHORT || kType == INT);
  if constexpr (kType == SHORT) {
    return static_cast<uint32_t>(pools.int32_keys[number]);
  } else {
    return static_cast<uint64_t>(pools.int64_keys[number]);
  }
}

// Returns a key of the pools as bytes: the 4 or 8 bytes of an integer in native byte order, or the
// string.
inline std::string_view pool_key_bytes(const PoolsView& pools, KeyType type, uint32_t number) {
  if (type == VARCHAR) return pools.varchar_keys[number];
  if (type == SHORT) {
    return {reinterpret_cast<const char*>(&pools.int32_keys[number]), sizeof(int32_t)};
  }
  return {reinterpret_cast<const char*>(&pools.int64_keys[number]), sizeof(int64_t)};
}

// Returns a key that the library wrote, in the same form as pool_key_bytes(). If the array contains
// no NUL, the string is the whole array.
inline std::string_view key_bytes(const Key& key, KeyType type) {
  if (type == VARCHAR) {
    return {key.keyval.charkey, strnlen(key.keyval.charkey, sizeof key.keyval.charkey)};
  }
  return {reinterpret_cast<const char*>(&key.keyval),
          type == SHORT ? sizeof(int32_t) : sizeof(int64_t)};
}

// Returns the payload that the library wrote. If the array contains no NUL, the payload is the
// whole array.
inline std::string_view payload_bytes(const Record& record) {
  return {record.payload, strnlen(record.payload, sizeof record.payload)};
}

inline constexpr std::size_t kPayloadBytes = 104;
static_assert(sizeof(Record) - offsetof(Record, payload) == kPayloadBytes);

// Writes kPayloadBytes bytes: the tag (a unique number) in 8 letters, then the text, then zeros. If
// `tag` is kNoTag, writes no letters for it.
inline void put_payload(char* out, uint32_t tag, std::string_view text) {
  if (tag == format::kNoTag) [[unlikely]] {
    std::memset(out, 0, kPayloadBytes);
    text.copy(out, text.size());
    return;
  }
  format::write_tag(tag, out);
  copy_text<(kPayloadBytes - format::kTagBytes) / sizeof(Lane)>(out + format::kTagBytes, text);
}

}  // namespace keydrome::player
