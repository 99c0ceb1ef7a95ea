// Prepares the Records and Keys that the player, the process that calls the library under test,
// passes to the library. The code has no branches that depend on the data. The player runs it
// before every timed call, so it must be fast.
//
// The code consists of straight-line loads and stores of 16 bytes, called lanes, which take about
// one cycle each. The alternatives are slower. For memset, g++ 12 emits `rep stos`, which took 44
// ns for a Record on the machine where it was measured. That is more time than the interpreter
// needs for all its other work per call. A memcpy of a string of random length costs a mispredicted
// branch.
//
// Thread safety: one object per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "benchmarks/kit/format/program.h"
#include "keydrome/index.h"

namespace keydrome::player {

using Lane = uint64_t __attribute__((vector_size(16), may_alias));

// Load and store a lane at any alignment. They use memcpy, because clang 14 ignores a lower
// alignment of a vector type inside templates.
inline Lane load_lane(const void* from) {
  Lane lane;
  std::memcpy(&lane, from, sizeof lane);
  return lane;
}
inline void store_lane(void* to, Lane lane) { std::memcpy(to, &lane, sizeof lane); }

// A table of bytes: 0xff in the first half, 0 in the second half. A range of the table serves as a
// mask that keeps the first bytes of a text and clears the rest.
struct MaskTable {
  constexpr MaskTable() {
    for (std::size_t i = 0; i < format::kReadAhead; ++i) bytes[i] = 0xff;
  }
  alignas(64) uint8_t bytes[2 * format::kReadAhead] = {};
};
inline constexpr MaskTable kMaskTable;

// Writes 16 * kLanes bytes: the text, followed by zeros. REQUIRES: the text fits, and kReadAhead
// bytes from its beginning may be read.
template <std::size_t kLanes>
inline void copy_text(char* out, std::string_view text) {
  static_assert(kLanes * sizeof(Lane) <= format::kReadAhead);
  const uint8_t* mask = kMaskTable.bytes + format::kReadAhead - text.size();
  asm("" : "+r"(mask));  // keeps g++ 12 from computing `mask` again for every lane
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::size_t at = i * sizeof(Lane);
    store_lane(out + at, load_lane(text.data() + at) & load_lane(mask + at));
  }
}

// A Record or Key that is cleared before each call and shares its cache lines with no other object.
// An object serves either integer indexes or string indexes, never both. So the bytes that its kind
// of key never uses have to be cleared only once.
template <typename T>
class alignas(64) Zeroed {
  static_assert(std::is_same_v<T, Record> || std::is_same_v<T, Key>);

 public:
  // Sets every byte to 0. Takes about 6 ns for a Record.
  T& clear() {
    clear_lanes<0, lanes(sizeof(T))>();
    return value_;
  }

  // Sets the key to an integer and the payload to 0. An int32 is passed as its 32 bits. Takes about
  // 3 ns for a Record.
  T& set_integer(KeyType type, uint64_t bits) {
    static_assert(offsetof(Key, keyval) == sizeof bits);
    // Write each field with one store, so that the library's loads of the field get the value by
    // store forwarding.
    const uint64_t type_bits = type;
    std::memcpy(static_cast<void*>(&value_), &type_bits, sizeof type_bits);
    std::memcpy(&key().keyval, &bits, sizeof bits);
    if constexpr (std::is_same_v<T, Record>) {
      static_assert(offsetof(Record, payload) % sizeof(Lane) == 0);
      clear_lanes<offsetof(Record, payload) / sizeof(Lane), lanes(sizeof(Record))>();
    }
    return value_;
  }

  // Sets the key to a string and all other bytes to 0.
  T& set_string(std::string_view text) {
    constexpr std::size_t kTextLanes = MAX_VARCHAR_LEN / sizeof(Lane);
    // Clear first, because the first cleared lane overlaps the end of the string.
    clear_lanes<kTextLanes, lanes(sizeof(T))>();
    const uint64_t type = VARCHAR;
    std::memcpy(static_cast<void*>(&value_), &type, sizeof type);
    copy_text<kTextLanes>(key().keyval.charkey, text);
    return value_;
  }

  T& value() { return value_; }

 private:
  static constexpr std::size_t lanes(std::size_t bytes) {
    return (bytes + sizeof(Lane) - 1) / sizeof(Lane);
  }

  template <std::size_t kFirst, std::size_t kEnd>
  void clear_lanes() {
#pragma GCC unroll 16
    for (std::size_t i = kFirst; i < kEnd; ++i) reinterpret_cast<Lane*>(this)[i] = Lane{};
  }

  Key& key() {
    if constexpr (std::is_same_v<T, Record>) {
      return value_.key;
    } else {
      return value_;
    }
  }

  // The only member, so that the value begins at the alignment of the class. Stores to the last
  // lane may write into the padding after the value.
  T value_{};
};

}  // namespace keydrome::player
