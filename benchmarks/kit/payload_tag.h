// Tags: the first 8 letters of every payload, one letter 'A'..'P' for each nibble of its 32-bit
// number, highest first. They make every payload unique, so the judge can tell which operation
// wrote what was read.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "benchmarks/kit/program.h"

namespace keydrome {

// Writes the kTagBytes letters of `tag`. About 3 ns, no loop.
inline void write_tag(uint32_t tag, char* out) {
  static_assert(std::endian::native == std::endian::little && kTagBytes == 8);
  uint64_t x = __builtin_bswap32(tag);
  x = (x | x << 16) & 0x0000ffff0000ffffu;
  x = (x | x << 8) &
      0x00ff00ff00ff00ffu;  // one byte of the tag in every second byte, highest first
  x = ((x >> 4) & 0x000f000f000f000fu) | ((x & 0x000f000f000f000fu) << 8);
  x += 0x4141414141414141u;
  std::memcpy(out, &x, sizeof x);
}

// The tag that a payload begins with; nothing when it does not begin with one.
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

}  // namespace keydrome
