// Converts the typed keys of index.h to the byte strings of structure.h, and back. memcmp orders
// the byte strings in the same way as the keys.
//
// Thread safety: the functions have no state; any thread may call them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "keydrome/index.h"
#include "keydrome/structure.h"

namespace keydrome::runtime {

static_assert(std::endian::native == std::endian::little,
              "key_codec.h needs a little-endian machine: it swaps bytes to make keys big-endian");
static_assert(KEYDROME_KEY_BYTES_MAX == MAX_VARCHAR_LEN);

// Flipping the sign bit turns signed order into unsigned order, and big-endian bytes keep that
// order under memcmp.
inline constexpr uint32_t kSign32 = uint32_t{1} << 31;
inline constexpr uint64_t kSign64 = uint64_t{1} << 63;

// Returns the size of all encoded keys of the type, or 0 if sizes differ.
constexpr uint32_t key_bytes_of(KeyType type) {
  if (type == INT) return sizeof(int64_t);
  return type == SHORT ? sizeof(int32_t) : 0;
}

// Returns the name of the type and the size of its keys, for messages.
constexpr const char* described(KeyType type) {
  if (type == INT) return "INT (8 bytes)";
  return type == SHORT ? "SHORT (4 bytes)" : "VARCHAR (sizes differ)";
}

// Encodes the key and returns `call(bytes)`. Returns FAILURE instead if the key's type is not
// `type`, or if a string has no NUL within MAX_VARCHAR_LEN + 1 bytes. The bytes are valid during
// the call only. The function is always inlined, with one call per type, so that the compiler knows
// the size of an integer key.
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

// Writes the type and the value of `key`. Returns false if the bytes do not encode a key of that
// type. In that case the structure has returned wrong bytes.
bool decode_key(KeydromeBytes bytes, KeyType type, Key& key);

}  // namespace keydrome::runtime
