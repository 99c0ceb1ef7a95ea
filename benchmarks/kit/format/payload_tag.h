// Writes and reads tags. A tag is a unique 32-bit number, and every payload begins with its tag in
// 8 letters. From the tag the judge knows which operation wrote the payload that a read returned.
//
// Each letter from 'A' to 'P' encodes four bits of the number, the highest bits first.
//
// Thread safety: pure functions.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "benchmarks/kit/format/program.h"

namespace keydrome::format {

// Writes the kTagBytes letters of `tag` to `out`. The call takes about 2 ns, because it uses vector
// instructions instead of a loop. The player, the process that calls the library, makes one such
// call for each insert.
inline void write_tag(uint32_t tag, char* out) {
  static_assert(std::endian::native == std::endian::little && kTagBytes == 8);
  using Letters = uint8_t __attribute__((vector_size(16)));
  using Words = uint64_t __attribute__((vector_size(16)));
  const Words bytes = {__builtin_bswap32(tag)};  // highest first
  const Letters high = reinterpret_cast<Letters>(bytes >> 4) & 0xf;
  const Letters low = reinterpret_cast<Letters>(bytes) & 0xf;
  const Letters letters =
      __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23) +
      uint8_t{'A'};
  std::memcpy(out, &letters, kTagBytes);
}

// Returns the tag at the beginning of a payload, or nothing if the payload has none.
inline std::optional<uint32_t> read_tag(std::string_view payload) {
  if (payload.size() < kTagBytes) return std::nullopt;
  uint32_t tag = 0;
  for (uint32_t i = 0; i < kTagBytes; ++i) {
    const char letter = payload[i];
    if (letter < 'A' || letter > 'P') return std::nullopt;
    tag = tag << 4 | static_cast<uint32_t>(letter - 'A');
  }
  return tag;
}

}  // namespace keydrome::format
