// The digest of what a thread read, computed by the player from the library's answers and by the
// judge from its model.
//
// A group is one call and the getNext calls that follow it. Within a group results are added up,
// because the order of the payloads of one key is free; the groups are chained, so their order
// counts. Codes are normalised: ENTRY_DNE and KEY_NOTFOUND count as the same (contract,
// deleteRecord). The library could compute digests as well; what it cannot do is know the right
// answers without doing the work. Thread safety: plain data.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash.h"
#include "keydrome/index.h"

namespace keydrome {

// What one call contributes. `key` and `payload` are empty unless the call read a record.
inline uint64_t digest_item(uint32_t code, std::string_view key, std::string_view payload) {
  const uint32_t normal = code == ENTRY_DNE ? static_cast<uint32_t>(KEY_NOTFOUND) : code;
  return hash_mix(hash_mix(hash_bytes(key), hash_bytes(payload)), normal + 1u);
}

class Digest {
 public:
  // A result that begins a group (every call but getNext).
  void start_group(uint64_t item) {
    close_group();
    sum_ = item;
    open_ = true;
  }
  // A result that belongs to the group before it (getNext).
  void add(uint64_t item) {
    sum_ += item;
    open_ = true;
  }
  // Appends another digest's value as a group of its own.
  void chain(uint64_t value) { chain_ = hash_mix(chain_, value); }
  bool empty() const { return !open_ && chain_ == kStart; }
  // The value of everything so far; further results start a new group.
  uint64_t value() {
    close_group();
    return chain_;
  }

 private:
  static constexpr uint64_t kStart = 0x6b65796472u;

  void close_group() {
    if (!open_) return;
    chain_ = hash_mix(chain_, sum_);
    sum_ = 0;
    open_ = false;
  }

  uint64_t chain_ = kStart;
  uint64_t sum_ = 0;
  bool open_ = false;
};

}  // namespace keydrome
