// Filling the Records, Keys and payloads that are passed to a library, and reading what it wrote
// into them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "benchmarks/kit/payload_tag.h"
#include "benchmarks/kit/pools_view.h"
#include "benchmarks/kit/zeroed.h"
#include "keydrome/index.h"

namespace keydrome {

// The bits of an integer key of a pool.
template <KeyType kType>
uint64_t integer_bits(const PoolsView& pools, uint32_t number) {
  static_assert(kType == SHORT || kType == INT);
  if constexpr (kType == SHORT) {
    return static_cast<uint32_t>(pools.int32_keys[number]);
  } else {
    return static_cast<uint64_t>(pools.int64_keys[number]);
  }
}

// A key of a pool as bytes: 4 or 8 of an integer in native order, or the string.
inline std::string_view pool_key_bytes(const PoolsView& pools, KeyType type, uint32_t number) {
  if (type == VARCHAR) return pools.varchar_keys[number];
  if (type == SHORT) {
    return {reinterpret_cast<const char*>(&pools.int32_keys[number]), sizeof(int32_t)};
  }
  return {reinterpret_cast<const char*>(&pools.int64_keys[number]), sizeof(int64_t)};
}

// A key that the library wrote, in the same form. A string without a NUL is cut at the end of its
// array.
inline std::string_view key_bytes(const Key& key, KeyType type) {
  if (type == VARCHAR) {
    return {key.keyval.charkey, strnlen(key.keyval.charkey, sizeof key.keyval.charkey)};
  }
  return {reinterpret_cast<const char*>(&key.keyval),
          type == SHORT ? sizeof(int32_t) : sizeof(int64_t)};
}

inline std::string_view payload_bytes(const Record& record) {
  return {record.payload, strnlen(record.payload, sizeof record.payload)};
}

// Writes tag and text, or with kNoTag the text alone, then zeros up to kPayloadBytes.
inline constexpr std::size_t kPayloadBytes = 104;
static_assert(sizeof(Record) - offsetof(Record, payload) == kPayloadBytes);
inline void put_payload(char* out, uint32_t tag, std::string_view text) {
  if (tag == kNoTag) [[unlikely]] {
    std::memset(out, 0, kPayloadBytes);
    text.copy(out, text.size());
    return;
  }
  write_tag(tag, out);
  copy_text<(kPayloadBytes - kTagBytes) / sizeof(Lane)>(out + kTagBytes, text);
}

}  // namespace keydrome
