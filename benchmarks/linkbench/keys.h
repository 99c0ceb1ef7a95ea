// The keys of lists and links: hexadecimal numbers of fixed width with bars between them, so that
// the links of a list are neighbours, the newest first.
//
//   0000002a|1                     the list of node 42's links of type 1: its count
//   0000002a|1|0000002b            its link to node 43
//   0000002a|1|fffffff0|0000002b   the same, with the inverted time at which it was written last
//
// Thread safety: pure functions.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "benchmarks/kit/digits.h"

namespace keydrome::linkbench {

inline constexpr uint32_t kTypes = 2;       // of links, from 0
inline constexpr std::size_t kIdBytes = 8;  // of a node, also of a time
inline constexpr std::size_t kListBytes = kIdBytes + 2;
inline constexpr std::size_t kPairBytes = kListBytes + 1 + kIdBytes;
inline constexpr std::size_t kLinkBytes = kPairBytes + 1 + kIdBytes;

// To the end of a string: there are millions, and one for all takes no allocations. The list of
// kTypes comes behind all links of the node.
inline void append_list_key(std::string& key, uint32_t id1, uint32_t type) {
  append_hexadecimal(key, id1);
  (key += '|') += static_cast<char>('0' + type);
}
inline void append_pair_key(std::string& key, uint32_t id1, uint32_t type, uint32_t id2) {
  append_list_key(key, id1, type);
  append_hexadecimal(key += '|', id2);
}
inline void append_link_key(std::string& key, uint32_t id1, uint32_t type, uint32_t time,
                            uint32_t id2) {
  append_pair_key(key, id1, type, UINT32_MAX - time);
  append_hexadecimal(key += '|', id2);
}

// The key of the pair that a link's key belongs to.
inline std::string pair_of(std::string_view link) {
  return std::string(link.substr(0, kListBytes)) +
         std::string(link.substr(kLinkBytes - kIdBytes - 1));
}

// Lists are numbered by node, whose ids begin with 1, and type.
constexpr uint32_t list_number(uint32_t id1, uint32_t type) { return (id1 - 1) * kTypes + type; }

// The number of the list that the key belongs to; nothing when it is none of the three.
inline std::optional<uint32_t> list_of(std::string_view key) {
  const bool long_enough = key.size() >= kListBytes && key[kIdBytes] == '|';
  if (!long_enough) return std::nullopt;
  uint32_t id1 = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + kIdBytes, id1, 16);
  const auto type = static_cast<uint32_t>(key[kIdBytes + 1] - '0');
  if (error != std::errc() || end != key.data() + kIdBytes || id1 == 0 || type >= kTypes) {
    return std::nullopt;
  }
  return list_number(id1, type);
}

}  // namespace keydrome::linkbench
