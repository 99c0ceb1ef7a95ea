// Defines three wrong orders of keys. Each changes a key before it is stored, so that stored keys
// compare in the wrong order. Mutants, libraries with one deliberate fault, call with_changed and
// decode_changed instead of with_encoded and decode_key (runtime/codec/key_codec.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/codec/key_codec.h"
#include "runtime/index.h"

namespace keydrome::runtime {

// Strings are compared by signed characters: the bytes 0x80 to 0xff come before the others.
struct SignedStrings {
  static constexpr bool kMerges = false;
  // 0x80 to 0xff become 0x01 to 0x80, and 0x01 to 0x7f become 0x81 to 0xff. No byte becomes 0.
  static void to_stored(Key& key) {
    change(key, [](unsigned byte) { return byte < 0x80 ? byte + 0x80 : byte - 0x7f; });
  }
  static void to_client(Key& key) {
    change(key, [](unsigned byte) { return byte > 0x80 ? byte - 0x80 : byte + 0x7f; });
  }

 private:
  template <class Change>
  static void change(Key& key, Change&& changed) {
    for (char* at = key.keyval.charkey; key.type == VARCHAR && *at != '\0'; ++at) {
      *at = static_cast<char>(changed(static_cast<unsigned char>(*at)));
    }
  }
};

// strncmp(a, b, 127): strings that differ only in the last of 128 bytes are the same key.
struct Strings127 {
  static constexpr bool kMerges = true;
  static void to_stored(Key& key) {
    if (key.type == VARCHAR) key.keyval.charkey[MAX_VARCHAR_LEN - 1] = '\0';
  }
};

// Keys of 64 bits are compared by their lower 32 bits.
struct Integers32 {
  static constexpr bool kMerges = true;
  static void to_stored(Key& key) {
    if (key.type == INT) key.keyval.intkey = static_cast<int32_t>(key.keyval.intkey);
  }
};

// For orders in which different keys are stored as the same one: remembers which of these keys was
// inserted first. Thread-safe.
class FirstKeys {
 public:
  void add(const Index& index, const std::string& stored, const Key& key) {
    const std::scoped_lock lock(mutex_);
    keys_.try_emplace({index.name(), stored}, key);
  }
  void find(const Index& index, const std::string& stored, Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = keys_.find({index.name(), stored});
    if (found != keys_.end()) key = found->second;
  }
  void remove(const Index& index, const std::string& stored) {
    const std::scoped_lock lock(mutex_);
    keys_.erase({index.name(), stored});
  }
  static FirstKeys& all() {
    static FirstKeys keys;
    return keys;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Key> keys_;
};

enum class Use : uint8_t { kLook, kInsert, kRemove };

// Calls `call` with the bytes of the changed key, like with_encoded.
template <class Order, class Call>
ErrCode with_changed(const Key& key, const Index& index, Use use, Call&& call) {
  Key changed = key;
  if (key.type != VARCHAR || strnlen(key.keyval.charkey, MAX_VARCHAR_LEN + 1) <= MAX_VARCHAR_LEN) {
    Order::to_stored(changed);
  }
  return with_encoded(changed, index.type(), [&](KeydromeBytes bytes) {
    const ErrCode code = call(bytes);
    if constexpr (Order::kMerges) {
      const std::string stored(static_cast<const char*>(bytes.data), bytes.size);
      if (code == SUCCESS && use == Use::kInsert) FirstKeys::all().add(index, stored, key);
      if (code == SUCCESS && use == Use::kRemove) FirstKeys::all().remove(index, stored);
    }
    return code;
  });
}

// Finds the client's key, like decode_key.
template <class Order>
bool decode_changed(KeydromeBytes bytes, const Index& index, Key& key) {
  if (!decode_key(bytes, index.type(), key)) return false;
  if constexpr (Order::kMerges) {
    FirstKeys::all().find(index, {static_cast<const char*>(bytes.data), bytes.size}, key);
  } else {
    Order::to_client(key);
  }
  return true;
}

}  // namespace keydrome::runtime
