// Preparing the Records and Keys that are passed to a library, without branches that depend on the
// data.
//
// Everything is straight-line 16-byte loads and stores, one cycle each. Left to memset, g++ 12
// emits `rep stos`, which took 44 ns for a Record on the machine where it was measured: more than
// everything else that a session does per call. A memcpy of a string of random length costs a
// mispredicted branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "keydrome/index.h"

namespace keydrome {

using Lane = uint64_t __attribute__((vector_size(16), may_alias));

// Wherever they stand. (A type of such lanes with a lower alignment is aligned all the same in
// templates of clang 14.)
inline Lane load_lane(const void* from) {
  Lane lane;
  std::memcpy(&lane, from, sizeof lane);
  return lane;
}
inline void store_lane(void* to, Lane lane) { std::memcpy(to, &lane, sizeof lane); }

// How far behind its end a string may be read.
inline constexpr std::size_t kReadAhead = 128;

// Bytes that keep what is before their middle and clear what is behind.
struct MaskTable {
  constexpr MaskTable() {
    for (std::size_t i = 0; i < kReadAhead; ++i) bytes[i] = 0xff;
  }
  alignas(64) uint8_t bytes[2 * kReadAhead] = {};
};
inline constexpr MaskTable kMaskTable;

// Writes 16 * kLanes bytes: the text, then zeros. The text is not longer than that and kReadAhead
// bytes behind its beginning may be read.
template <std::size_t kLanes>
inline void copy_text(char* out, std::string_view text) {
  static_assert(kLanes * sizeof(Lane) <= kReadAhead);
  const uint8_t* mask = kMaskTable.bytes + kReadAhead - text.size();
  asm("" : "+r"(mask));  // else g++ 12 computes it anew for every lane
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::size_t at = i * sizeof(Lane);
    store_lane(out + at, load_lane(text.data() + at) & load_lane(mask + at));
  }
}

// A Record or Key alone on its cache lines. One object serves either integer or string indices,
// never both: bytes that cannot hold a key or payload of the index's type are cleared once.
template <typename T>
class alignas(64) Zeroed {
  static_assert(std::is_same_v<T, Record> || std::is_same_v<T, Key>);

 public:
  // Sets every byte to 0. About 6 ns for a Record.
  T& clear() {
    clear_lanes<0, lanes(sizeof(T))>();
    return value_;
  }

  // Sets the key to that integer (an int32 as its 32 bits) and the payload to 0. About 3 ns for a
  // Record.
  T& set_integer(KeyType type, uint64_t bits) {
    static_assert(offsetof(Key, keyval) == sizeof bits);
    // A store for each field: a library's loads of them wait for nothing else.
    const uint64_t type_bits = type;
    std::memcpy(static_cast<void*>(&value_), &type_bits, sizeof type_bits);
    std::memcpy(&key().keyval, &bits, sizeof bits);
    if constexpr (std::is_same_v<T, Record>) {
      static_assert(offsetof(Record, payload) % sizeof(Lane) == 0);
      clear_lanes<offsetof(Record, payload) / sizeof(Lane), lanes(sizeof(Record))>();
    }
    return value_;
  }

  // Sets the key to that string and the rest to 0.
  T& set_string(std::string_view text) {
    constexpr std::size_t kTextLanes = MAX_VARCHAR_LEN / sizeof(Lane);
    clear_lanes<kTextLanes,
                lanes(sizeof(T))>();  // reaches into the string's end, so it comes first
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

  T value_{};  // first, so that it begins at the alignment; the last lane may reach into the
               // padding behind it
};

}  // namespace keydrome
