// Keys between contract A (typed) and contract B (bytes whose memcmp order is the keys' order).
//
// Thread safety: pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "keydrome/index.h"
#include "keydrome/structure.h"

namespace keydrome::runtime {

static_assert(std::endian::native == std::endian::little, "integers are made by a byte swap");
static_assert(KEYDROME_KEY_BYTES_MAX == MAX_VARCHAR_LEN);

// Flipping the sign bit turns signed order into unsigned order, which big-endian bytes keep.
extern const uint32_t kSign32;
extern const uint64_t kSign64;

// `call(bytes)` with the encoded key, or FAILURE when the key is not of this type or a string has
// no NUL within MAX_VARCHAR_LEN + 1 bytes. The bytes live as long as the call. Inlined for each
// type, so that the compiler knows the size of integers.
template <class Call>
[[gnu::always_inline]] inline ErrCode with_encoded(const Key& key, KeyType type, Call&& call) {
  if (key.type != type) return FAILURE;
  switch (type) {
    [[likely]] case INT: {
      const uint64_t code = __builtin_bswap64(static_cast<uint64_t>(key.keyval.intkey) ^ kSign64);
      return call(KeydromeBytes{&code, sizeof code});
    }
    case SHORT: {
      const uint32_t code = __builtin_bswap32(static_cast<uint32_t>(key.keyval.shortkey) ^ kSign32);
      return call(KeydromeBytes{&code, sizeof code});
    }
    case VARCHAR: {
      const size_t size = strnlen(key.keyval.charkey, sizeof key.keyval.charkey);
      if (size > MAX_VARCHAR_LEN) return FAILURE;
      return call(KeydromeBytes{key.keyval.charkey, static_cast<uint32_t>(size)});
    }
  }
  return FAILURE;
}

// Writes type and value. False when the bytes are not an encoding of that type (a defect of the
// structure).
bool decode_key(KeydromeBytes bytes, KeyType type, Key& key);

}  // namespace keydrome::runtime
