// Implements decode_key: turns the bytes of a key into a typed key. The header contains the
// encoder.
#include "runtime/codec/key_codec.h"

#include <cstring>

namespace keydrome::runtime {

bool decode_key(KeydromeBytes bytes, KeyType type, Key& key) {
  key.type = type;
  switch (type) {
    case SHORT: {
      uint32_t value = 0;
      if (bytes.size != sizeof value) return false;
      std::memcpy(&value, bytes.data, sizeof value);
      key.keyval.shortkey = static_cast<int32_t>(__builtin_bswap32(value) ^ kSign32);
      return true;
    }
    case INT: {
      uint64_t value = 0;
      if (bytes.size != sizeof value) return false;
      std::memcpy(&value, bytes.data, sizeof value);
      key.keyval.intkey = static_cast<int64_t>(__builtin_bswap64(value) ^ kSign64);
      return true;
    }
    case VARCHAR:
      if (bytes.size > MAX_VARCHAR_LEN) return false;
      std::memcpy(key.keyval.charkey, bytes.data, bytes.size);
      key.keyval.charkey[bytes.size] = '\0';
      return true;
  }
  return false;
}

}  // namespace keydrome::runtime
