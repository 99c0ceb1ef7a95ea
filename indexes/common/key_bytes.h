// Encodes keys of contract A (keydrome/index.h) as bytes. The memcmp order of the bytes is the
// order of the keys. If one key is a prefix of another, the shorter key is smaller.
//
// Integers are encoded big-endian with the sign bit flipped (4 or 8 bytes). Strings are encoded as
// their bytes without NUL. The type of a key is not encoded, because all keys of an index have the
// same type.
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "keydrome/index.h"

namespace keydrome {

// One encoded key.
struct KeyBytes {
  std::array<char, MAX_VARCHAR_LEN> bytes;
  uint32_t size;

  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
};

template <typename Unsigned>
void store_big_endian(Unsigned value, char* out) {
  for (size_t i = 0; i < sizeof(Unsigned); ++i) {
    out[i] = static_cast<char>(value >> (8 * (sizeof(Unsigned) - 1 - i)));
  }
}

template <typename Unsigned>
Unsigned load_big_endian(const char* in) {
  Unsigned value = 0;
  for (size_t i = 0; i < sizeof(Unsigned); ++i) {
    value = static_cast<Unsigned>(value << 8 | static_cast<unsigned char>(in[i]));
  }
  return value;
}

// Encodes a key for an index of `type`. Returns false if the key has another type, or if a string
// has no terminating NUL.
inline bool encode_key(KeyType type, const Key& key, KeyBytes* out) {
  if (key.type != type) return false;
  switch (type) {
    case SHORT:
      store_big_endian(static_cast<uint32_t>(key.keyval.shortkey) ^ 0x80000000u, out->bytes.data());
      out->size = 4;
      return true;
    case INT:
      store_big_endian(static_cast<uint64_t>(key.keyval.intkey) ^ 0x8000000000000000u,
                       out->bytes.data());
      out->size = 8;
      return true;
    case VARCHAR: {
      const size_t length = strnlen(key.keyval.charkey, MAX_VARCHAR_LEN + 1);
      if (length > MAX_VARCHAR_LEN) return false;
      std::memcpy(out->bytes.data(), key.keyval.charkey, length);
      out->size = static_cast<uint32_t>(length);
      return true;
    }
  }
  return false;
}

// Decodes bytes that encode_key has made with the same type.
inline void decode_key(KeyType type, std::string_view bytes, Key* out) {
  out->type = type;
  switch (type) {
    case SHORT:
      out->keyval.shortkey =
          static_cast<int32_t>(load_big_endian<uint32_t>(bytes.data()) ^ 0x80000000u);
      break;
    case INT:
      out->keyval.intkey =
          static_cast<int64_t>(load_big_endian<uint64_t>(bytes.data()) ^ 0x8000000000000000u);
      break;
    case VARCHAR:
      std::memcpy(out->keyval.charkey, bytes.data(), bytes.size());
      out->keyval.charkey[bytes.size()] = '\0';
      break;
  }
}

// Returns the payload without its NUL. If `payload` is NULL or too long, returns a view whose
// data() is nullptr.
inline std::string_view payload_view(const char* payload) {
  if (payload == nullptr) return {};
  const size_t length = strnlen(payload, MAX_PAYLOAD_LEN + 1);
  if (length > MAX_PAYLOAD_LEN) return {};
  return {payload, length};
}

// Copies a payload with its NUL into a Record's field.
inline void copy_payload(std::string_view payload, char* out) {
  std::memcpy(out, payload.data(), payload.size());
  out[payload.size()] = '\0';
}

}  // namespace keydrome
