// Reads keys as big-endian numbers, whose order is that of the bytes.
//
// The *head* of a key is its first eight bytes as such a number, padded with zeros. If two heads
// differ, their order is that of the keys. The keys must be compared only if the heads are equal.
//
// Thread safety: pure functions.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace keydrome {

static_assert(std::endian::native == std::endian::little,
              "the byte swaps need a little-endian machine");

inline uint64_t load_big(const void* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap64(value);
}

inline void store_big(void* to, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}

// Returns the head of the bytes from `at` on. Bytes past the end count as zero. Does not make a
// zero-padded copy of the key, because a load from the copy would have to wait until the stores to
// the copy have left the store buffer.
inline uint64_t load_head(const uint8_t* key, uint32_t size, uint32_t at) {
  if (at + 8 <= size) return load_big(key + at);
  if (at >= size) return 0;
  const uint32_t left = size - at;
  if (size >= 8) return load_big(key + size - 8) << (64 - 8 * left);
  uint64_t head = 0;
  for (uint32_t i = 0; i < left; ++i) head |= uint64_t{key[at + i]} << (56 - 8 * i);
  return head;
}

// `key` may be NULL if `size` is 0.
inline uint64_t head_of(const uint8_t* key, uint32_t size) { return load_head(key, size, 0); }
inline uint64_t head_of(std::string_view key) {
  return head_of(reinterpret_cast<const uint8_t*>(key.data()), static_cast<uint32_t>(key.size()));
}

}  // namespace keydrome
