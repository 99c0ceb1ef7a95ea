// Pair: key and payload, the unit that the dictionary stores. Probe: a position between pairs.
//
// Pairs are ordered by key, then by payload. A key with several payloads is several pairs.
//
// Thread safety: plain values, which do not synchronise threads.
#pragma once

#include <cstdint>
#include <string_view>

#include "keydrome/structure_class.h"
#include "structures/common/big_endian.h"

namespace keydrome::delta_storage {

// The bytes belong to the owner of the pair.
struct Pair {
  std::string_view key;
  std::string_view payload;
};

// A position: directly before (key, payload), or directly after this pair if `after` is true, or
// after all pairs with the key if `past_key` is true. The bytes must stay valid during the call.
struct Probe {
  std::string_view key;
  std::string_view payload;
  bool after = false;
  bool past_key = false;
  uint64_t head = head_of(key);

  static Probe at(KeydromeBytes key, KeydromeBytes payload) {
    return {view_of(key), view_of(payload)};
  }
};

}  // namespace keydrome::delta_storage
