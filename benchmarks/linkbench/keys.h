// Formats the keys of lists and links in the benchmark "linkbench": hexadecimal numbers of fixed
// width, separated by bars. The links of a list are adjacent in key order, the newest first.
//
//   0000002a|1                     in counts: the list of node 42's links of type 1
//   0000002a|1|0000002b            in links_by_id2: its link to node 43
//   0000002a|1|fffffff0|0000002b   in links: the same link; third part: 2^32 - 1 minus the
//   time of the link's last write
//
// Thread safety: pure functions.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "benchmarks/kit/format/digits.h"

namespace keydrome::linkbench {

inline constexpr uint32_t kTypes = 2;       // types of links, numbered from 0
inline constexpr std::size_t kIdBytes = 8;  // digits of a node's id or of a time
inline constexpr std::size_t kListBytes = kIdBytes + 2;
inline constexpr std::size_t kPairBytes = kListBytes + 1 + kIdBytes;
inline constexpr std::size_t kLinkBytes = kPairBytes + 1 + kIdBytes;

// Append a key to a string. There are millions of keys, and a string that the caller reuses needs
// no allocations. In key order, the list key of type kTypes is after all links of the node.
inline void append_list_key(std::string& key, uint32_t id1, uint32_t type) {
  format::append_hexadecimal(key, id1);
  (key += '|') += static_cast<char>('0' + type);
}
inline void append_pair_key(std::string& key, uint32_t id1, uint32_t type, uint32_t id2) {
  append_list_key(key, id1, type);
  format::append_hexadecimal(key += '|', id2);
}
inline void append_link_key(std::string& key, uint32_t id1, uint32_t type, uint32_t time,
                            uint32_t id2) {
  append_pair_key(key, id1, type, UINT32_MAX - time);
  format::append_hexadecimal(key += '|', id2);
}

// Converts the key of a link in `links` to the key of the same link in `links_by_id2`.
inline std::string pair_of(std::string_view link) {
  return std::string(link.substr(0, kListBytes)) +
         std::string(link.substr(kLinkBytes - kIdBytes - 1));
}

// Returns the number of a list. Lists are numbered by node and type; node ids begin with 1.
constexpr uint32_t list_number(uint32_t id1, uint32_t type) { return (id1 - 1) * kTypes + type; }

// Returns the number of the list that a key belongs to, or nothing if the key has none of the three
// forms.
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
