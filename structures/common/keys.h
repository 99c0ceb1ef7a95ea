// Types for structures that wrap a container of a library. ShortBytes is a short string, NumberKeys
// and TextKeys are the two forms of keys, StoredPair is a stored pair, and EitherKeys chooses the
// form of the keys. A container of these types is close to what a program would use: numbers are
// uint64_t, and short strings need no allocation.
//
// Thread safety: plain values, which do not synchronise threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>

#include "keydrome/structure_class.h"

namespace keydrome {

// A string of at most 128 bytes. The object contains up to kInside bytes; longer strings are in
// memory of the environment (the allocator of the caller). The owner must call drop(). Copies share
// the memory.
class ShortBytes {
 public:
  static constexpr size_t kInside = 15;

  // Throws std::bad_alloc if out of memory.
  static ShortBytes make(const StructureMemory& memory, std::string_view text) {
    ShortBytes made;
    made.size_ = static_cast<uint8_t>(text.size());
    char* to = made.inside_;
    if (text.size() > kInside) {
      to = static_cast<char*>(memory.allocate(text.size(), 1));
      if (to == nullptr) throw std::bad_alloc();
      std::memcpy(made.inside_, &to, sizeof to);
    }
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    return made;
  }
  void drop(const StructureMemory& memory) const {
    if (size_ > kInside) memory.retire(outside(), size_, 1);
  }
  std::string_view view() const { return {size_ > kInside ? outside() : inside_, size_}; }

 private:
  char* outside() const {
    char* text;
    std::memcpy(&text, inside_, sizeof text);
    return text;
  }

  alignas(8) char inside_[kInside];
  uint8_t size_;
};
static_assert(sizeof(ShortBytes) == 16);

// Keys that all have the same size of at most 8 bytes, as numbers in the same order.
struct NumberKeys {
  using Stored = uint64_t;
  using Probe = uint64_t;

  static Probe probe(KeydromeBytes key) {
    uint64_t number = 0;
    if (key.size == sizeof number) {
      std::memcpy(&number, key.data, sizeof number);
      return __builtin_bswap64(number);
    }
    for (uint32_t i = 0; i < key.size; ++i) {
      number = number << 8 | static_cast<const uint8_t*>(key.data)[i];
    }
    return number;
  }
  static Stored store(const StructureMemory&, Probe key) { return key; }
  static void drop(const StructureMemory&, Stored) {}
  static Probe view(Stored key) { return key; }
  static int add(KeydromeRun& run, Stored key, uint32_t key_bytes, std::string_view payload) {
    const uint64_t big = __builtin_bswap64(key);
    const auto* bytes = reinterpret_cast<const char*>(&big) + sizeof big - key_bytes;
    return keydrome_run_add(&run, {bytes, key_bytes}, bytes_of(payload));
  }
};

struct TextKeys {
  using Stored = ShortBytes;
  using Probe = std::string_view;

  static Probe probe(KeydromeBytes key) { return view_of(key); }
  static Stored store(const StructureMemory& memory, Probe key) {
    return ShortBytes::make(memory, key);
  }
  static void drop(const StructureMemory& memory, const Stored& key) { key.drop(memory); }
  static Probe view(const Stored& key) { return key.view(); }
  static int add(KeydromeRun& run, const Stored& key, uint32_t, std::string_view payload) {
    return keydrome_run_add(&run, bytes_of(key.view()), bytes_of(payload));
  }
};

// A stored pair. The owner must call drop(). Copies share the memory.
template <class Keys>
struct StoredPair {
  // NOLINTBEGIN(readability-redundant-typename): clang 14 needs it
  typename Keys::Stored key;
  ShortBytes payload;

  // Throws std::bad_alloc if out of memory, after it has freed the memory that it had allocated.
  static StoredPair make(const StructureMemory& memory, typename Keys::Probe key,
                         std::string_view payload) {
    // NOLINTEND(readability-redundant-typename)
    const typename Keys::Stored stored = Keys::store(memory, key);
    try {
      return {stored, ShortBytes::make(memory, payload)};
    } catch (const std::bad_alloc&) {
      Keys::drop(memory, stored);
      throw;
    }
  }
  void drop(const StructureMemory& memory) const {
    Keys::drop(memory, key);
    payload.drop(memory);
  }
};

// A structure that consists of one of two classes: `Numbers` if all keys have the same size of at
// most 8 bytes, and `Texts` otherwise.
template <class Numbers, class Texts>
class EitherKeys {
 public:
  EitherKeys(const KeydromeEnvironment& environment, const KeydromeSetup& setup) {
    if (setup.key_bytes > 0 && setup.key_bytes <= sizeof(uint64_t)) {
      numbers_.emplace(environment, setup);
    } else {
      texts_.emplace(environment, setup);
    }
  }

  int put(KeydromeBytes key, KeydromeBytes payload) {
    return visit(*this, [&](auto& pairs) { return pairs.put(key, payload); });
  }
  int del(KeydromeBytes key, KeydromeBytes payload) {
    return visit(*this, [&](auto& pairs) { return pairs.del(key, payload); });
  }
  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) {
    return visit(*this, [&](auto& pairs) { return pairs.replace(key, before, now); });
  }
  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const {
    return visit(*this, [&](const auto& pairs) { return pairs.find(key, after, payload); });
  }

 protected:
  template <class Self, class Call>
  static int visit(Self& self, const Call& call) {
    return self.numbers_.has_value() ? call(*self.numbers_) : call(*self.texts_);
  }

 private:
  std::optional<Numbers> numbers_;  // exactly one of them has a value
  std::optional<Texts> texts_;
};

}  // namespace keydrome
