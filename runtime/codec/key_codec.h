// Keys between contract A (typed) and contract B (bytes whose memcmp order is the keys' order).
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "keydrome/index.h"
#include "keydrome/structure.h"

namespace keydrome::runtime {

// An encoded key. Strings are borrowed from the Key, integers live in `integer`: not copyable, and
// valid as long as both this object and the Key are.
class EncodedKey {
 public:
  EncodedKey() = default;
  EncodedKey(const EncodedKey&) = delete;
  EncodedKey& operator=(const EncodedKey&) = delete;

  // False when the key is not of this type or a string has no NUL within MAX_VARCHAR_LEN + 1 bytes.
  bool encode(const Key& key, KeyType type);

  KeydromeBytes bytes() const { return bytes_; }

 private:
  uint8_t integer_[8];
  KeydromeBytes bytes_{nullptr, 0};
};

// Writes type and value. False when the bytes are not an encoding of that type (a defect of the
// structure).
bool decode_key(KeydromeBytes bytes, KeyType type, Key& key);

}  // namespace keydrome::runtime
