// Computes a digest (a 64-bit hash) of everything that one thread read. The player computes the
// digest from the library's results, and the judge computes it from its model of the data. Equal
// digests mean equal results.
//
// Each call contributes one hash, its item. A group is one call and the getNext calls that follow
// it. The items of a group are added, because contract A does not define the order of payloads
// under one key. The groups are chained, so the order of the groups changes the digest.
//
// ENTRY_DNE and KEY_NOTFOUND give the same item, because deleteRecord may return either code.
//
// A library that forges a digest gains nothing, because only the right results of all calls give
// the right digest.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash.h"
#include "keydrome/index.h"

namespace keydrome::format {

// Returns the item of one call. REQUIRES: `key` and `payload` are empty if the call returned no
// record.
inline uint64_t digest_item(uint32_t code, std::string_view key, std::string_view payload) {
  const uint32_t normal = code == ENTRY_DNE ? static_cast<uint32_t>(KEY_NOTFOUND) : code;
  return hash_mix(hash_mix(hash_bytes(key), hash_bytes(payload)), normal + 1u);
}

class Digest {
 public:
  // Begins a new group with the item of any call except getNext.
  void start_group(uint64_t item) {
    close_group();
    sum_ = item;
    open_ = true;
  }
  // Adds the item of a getNext to the current group.
  void add(uint64_t item) {
    sum_ += item;
    open_ = true;
  }
  // Appends the value of another digest as a group of its own.
  void chain(uint64_t value) { chain_ = hash_mix(chain_, value); }
  // Returns true if no item and no value has been added.
  bool empty() const { return !open_ && chain_ == kStart; }
  // Returns the digest of all items so far and closes the current group.
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

}  // namespace keydrome::format
