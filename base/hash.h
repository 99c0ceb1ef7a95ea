// A fast 64-bit hash of bytes: digests of what a run read, fingerprints of recorded keys and
// payloads. Not for use against an adversary who may choose both inputs.
//
// Same value on every machine and in every process, so hashes may cross process boundaries and
// stand in files. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace keydrome {

inline uint64_t hash_mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ 0x8bb84b93962eacc9u) * (b ^ 0x2d358dccaa6c78a5u);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_bytes(std::string_view bytes) {
  uint64_t hash = hash_mix(bytes.size(), 0x4b33a62ed433d4a3u);
  while (!bytes.empty()) {
    const std::size_t take = bytes.size() < 8 ? bytes.size() : 8;
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), take);
    hash = hash_mix(hash, word);
    bytes.remove_prefix(take);
  }
  return hash;
}

}  // namespace keydrome
