// Probe: a key that a call looks for, with its hash.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "keydrome/structure_class.h"

namespace keydrome::hash {

using Bytes = std::string_view;

// Compares payloads in the order of contract B (keydrome/structure.h): by memcmp, and a prefix is
// smaller.
inline bool less(Bytes a, Bytes b) { return a.compare(b) < 0; }

struct Probe {
  uint64_t hash;
  uint64_t word;  // the value of a slot's `key` if the slot has this key
  Bytes rest;     // the key, as a Block (payloads.h) has it; empty if `word` is the whole key

  // `narrow` is true if all keys of the instance have the same size of at most 8 bytes.
  static Probe of(KeydromeBytes key, bool narrow) {
    if (!narrow) {
      const uint64_t hash = hash_bytes(view_of(key));
      return {hash, hash, view_of(key)};
    }
    const uint64_t word = word_of(key);
    return {hash_of_word(word), word, {}};
  }

  // Returns a number for a key of at most 8 bytes. Keys of one size have different numbers.
  static uint64_t word_of(KeydromeBytes key) {
    uint64_t word = 0;
    if (key.size == sizeof word) {
      std::memcpy(&word, key.data, sizeof word);
    } else {
      std::memcpy(&word, key.data, key.size);
    }
    return word;
  }

  static uint64_t hash_of_word(uint64_t word) { return hash_mix(word, 0x9E3779B97F4A7C15u); }
};

}  // namespace keydrome::hash
