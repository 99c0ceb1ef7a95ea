// Pair: a key with one of its payloads. Bound: a place between two pairs of an index.
#pragma once

#include <cstdint>
#include <cstring>

#include "keydrome/structure.h"

namespace keydrome::runtime {

// A Bound with this payload is before all payloads of its key if Bound::after is false, and after
// all of them if Bound::after is true.
inline constexpr KeydromeBytes kAnyPayload{nullptr, 0};

// A place between two pairs of the sorted index. If `after` is false, the place is before the first
// pair >= (key, payload). If `after` is true, it is before the first pair > (key, payload). The
// payload kAnyPayload is an exception, see above. The struct does not own the bytes.
struct Bound {
  KeydromeBytes key;
  KeydromeBytes payload;
  bool after;
};

inline Bound before_key(KeydromeBytes key) { return {key, kAnyPayload, false}; }
inline Bound after_key(KeydromeBytes key) { return {key, kAnyPayload, true}; }

// A key and a payload. The object has its own copy of the bytes. It stores them in the encoding of
// a KeydromeRun (a buffer of pairs, structure.h), so that a structure can write a pair into it.
class Pair {
 public:
  KeydromeBytes key() const { return {data_ + 2, data_[0]}; }
  KeydromeBytes payload() const { return {data_ + 2 + data_[0], data_[1]}; }
  void set(KeydromeBytes key, KeydromeBytes payload) {
    data_[0] = static_cast<uint8_t>(key.size);
    data_[1] = static_cast<uint8_t>(payload.size);
    if (key.size > 0) std::memcpy(data_ + 2, key.data, key.size);
    if (payload.size > 0) std::memcpy(data_ + 2 + key.size, payload.data, payload.size);
  }
  // Returns a run that holds no pair yet and has room for one. A structure that fills the run
  // writes into this object's memory.
  KeydromeRun as_run() { return {data_, sizeof data_, 0, 1, 0}; }

 private:
  uint8_t data_[KEYDROME_RUN_BYTES_MIN];
};

}  // namespace keydrome::runtime
