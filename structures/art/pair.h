// Defines Pair, a pair of key and payload as the string of digits that the tree branches on.
//
// The digits of a pair are the bytes of the key, an end mark, the bytes of the payload, and another
// end mark. The end mark is smaller than every byte. So a key that is a prefix of another key is
// smaller, and the payloads of one key are in order. This is the order of contract B, the interface
// of a data structure (keydrome/structure.h). No string of digits is a prefix of another one, so
// some digit separates any two pairs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"

namespace keydrome::art {

// Digits that are not bytes.
inline constexpr int kEnd = -1;      // the end mark
inline constexpr int kBeyond = 256;  // larger than every digit of a pair (Pair::past_key)

// The longest string of digits. A depth is a position in the string, so it is below kDigitsMax.
inline constexpr uint32_t kDigitsMax = KEYDROME_KEY_BYTES_MAX + 1 + KEYDROME_PAYLOAD_BYTES_MAX + 1;
static_assert(kDigitsMax <= UINT8_MAX, "a link stores a depth in one byte (link.h)");
static_assert(std::endian::native == std::endian::little,
              "mismatch() needs a little-endian machine: it takes the lowest bits of a word as the "
              "first byte");

// The bytes belong to a leaf, a page or the caller. If `past_key` is true, the payload is ignored,
// and the pair is larger than every pair with the same key. Only the probe of a scan, i.e. the pair
// at which it starts, has `past_key`.
struct Pair {
  const uint8_t* key;
  const uint8_t* payload;
  uint32_t key_size;
  uint32_t payload_size;
  bool past_key = false;

  static Pair of(KeydromeBytes key, KeydromeBytes payload) {
    return {static_cast<const uint8_t*>(key.data), static_cast<const uint8_t*>(payload.data),
            key.size, payload.data == nullptr ? 0 : payload.size};
  }

  // Returns the digit at `depth`, and an end mark for every depth after the last digit.
  int digit(uint32_t depth) const {
    if (depth < key_size) return key[depth];
    if (depth == key_size) return kEnd;
    if (past_key) return kBeyond;
    const uint32_t at = depth - key_size - 1;
    return at < payload_size ? payload[at] : kEnd;
  }
};

// Keys and payloads of this size are *words*: they are read and written as numbers.
inline constexpr uint32_t kWordBytes = sizeof(uint64_t);

inline bool is_word_pair(const Pair& pair) {
  return pair.key_size == kWordBytes && pair.payload_size == kWordBytes;
}

// Loads a word. The number has the same bytes in memory.
inline uint64_t word_at(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}
// Returns a number for each word, so that numbers have the order that memcmp gives the words.
inline uint64_t in_order(uint64_t word) { return __builtin_bswap64(word); }

// Returns the number of equal bytes at the beginning of `a` and `b`, at most `size`.
inline uint32_t mismatch(const uint8_t* a, const uint8_t* b, uint32_t size) {
  uint32_t at = 0;
  for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    uint64_t x;
    uint64_t y;
    std::memcpy(&x, a + at, sizeof x);
    std::memcpy(&y, b + at, sizeof y);
    if (x != y) return at + static_cast<uint32_t>(std::countr_zero(x ^ y)) / 8;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

inline bool equal_bytes(const uint8_t* a, const uint8_t* b, uint32_t size) {
  if (size == sizeof(uint64_t)) return std::memcmp(a, b, sizeof(uint64_t)) == 0;
  return size == 0 || std::memcmp(a, b, size) == 0;
}

// The result of difference() for equal pairs. Larger than every depth.
inline constexpr uint32_t kSame = UINT32_MAX;

// Returns the depth of the first digit in which a probe differs from a stored pair.
inline uint32_t difference(const Pair& probe, const Pair& stored) {
  const uint32_t key_size = std::min(probe.key_size, stored.key_size);
  const uint32_t in_key = mismatch(probe.key, stored.key, key_size);
  if (in_key < key_size || probe.key_size != stored.key_size) return in_key;
  if (probe.past_key) return key_size + 1;
  const uint32_t payload_size = std::min(probe.payload_size, stored.payload_size);
  const uint32_t in_payload = mismatch(probe.payload, stored.payload, payload_size);
  if (in_payload == payload_size && probe.payload_size == stored.payload_size) return kSame;
  return key_size + 1 + in_payload;
}

inline uint64_t ordered_word(const uint8_t* bytes) { return in_order(word_at(bytes)); }

// Returns a number < 0, 0 or > 0 if the probe is smaller than, equal to or larger than the stored
// pair.
inline int compare(const Pair& probe, const Pair& stored) {
  if (probe.key_size == sizeof(uint64_t) && stored.key_size == sizeof(uint64_t)) {
    const uint64_t a = ordered_word(probe.key);
    const uint64_t b = ordered_word(stored.key);
    if (a != b) return a < b ? -1 : 1;
  }
  const uint32_t depth = difference(probe, stored);
  return depth == kSame ? 0 : probe.digit(depth) - stored.digit(depth);
}

}  // namespace keydrome::art
