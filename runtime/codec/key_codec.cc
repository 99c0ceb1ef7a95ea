#include "runtime/codec/key_codec.h"

#include <bit>
#include <cstring>

#include "runtime/control/mutant.h"

namespace keydrome::runtime {

namespace {

static_assert(std::endian::native == std::endian::little, "integers are made by a byte swap");
static_assert(KEYDROME_KEY_BYTES_MAX == MAX_VARCHAR_LEN);

// Flipping the sign bit turns signed order into unsigned order, which big-endian bytes keep.
const uint32_t kSign32 = mutant(39) ? 0 : uint32_t{1} << 31;
const uint64_t kSign64 = mutant(39) ? 0 : uint64_t{1} << 63;

}  // namespace

bool EncodedKey::encode(const Key& key, KeyType type) {
  if (key.type != type) return false;
  switch (type) {
    case SHORT: {
      const uint32_t value =
          __builtin_bswap32(static_cast<uint32_t>(key.keyval.shortkey) ^ kSign32);
      std::memcpy(integer_, &value, sizeof value);
      bytes_ = {integer_, sizeof value};
      return true;
    }
    case INT: {
      const uint64_t value = __builtin_bswap64(static_cast<uint64_t>(key.keyval.intkey) ^ kSign64);
      std::memcpy(integer_, &value, sizeof value);
      bytes_ = {integer_, sizeof value};
      return true;
    }
    case VARCHAR: {
      const size_t size = strnlen(key.keyval.charkey, sizeof key.keyval.charkey);
      bytes_ = {key.keyval.charkey, static_cast<uint32_t>(size)};
      return size <= MAX_VARCHAR_LEN;
    }
  }
  return false;
}

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
