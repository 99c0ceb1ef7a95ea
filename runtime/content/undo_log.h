// UndoLog: records the changes that a transaction makes directly in the indexes, so that they can
// be rolled back.
//
//   log.reserve(key, payload);                 // may throw, before anything has changed
//   store.put(key, payload);
//   log.append({&index, true, key, payload});  // cannot fail
//
// Thread safety: none. A log belongs to one transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "keydrome/structure.h"

namespace keydrome::runtime {

class Index;

// One change. In the result of newest(), key and payload point into the log.
struct Change {
  Index* index;
  bool inserted;  // false: deleted
  KeydromeBytes key;
  KeydromeBytes payload;
};

class UndoLog {
 public:
  // Reserves memory for one change, or throws std::bad_alloc. Call this before the change is made.
  void reserve(KeydromeBytes key, KeydromeBytes payload) { reserve(change_bytes(key, payload)); }
  // Like reserve(), for two changes of the same key.
  void reserve(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) {
    reserve(change_bytes(key, before) + change_bytes(key, now));
  }
  // Cannot fail after reserve() with the same sizes.
  void append(const Change& change);

  // Returns the size of the log in bytes. Changes that are appended later are beyond this mark.
  size_t mark() const { return bytes_.size(); }
  bool empty_beyond(size_t mark) const { return bytes_.size() <= mark; }
  // Returns the newest change, which is valid until the log changes. Precondition: the log has at
  // least one change.
  Change newest() const;
  void drop_newest();
  // Removes everything, and frees the memory if it is more than kKeepBytes.
  void clear();
  // Returns the memory that the log holds.
  size_t memory_bytes() const { return bytes_.capacity(); }

 private:
  // Follows the bytes of its change, because the log is read backwards.
  struct Footer {
    Index* index;
    uint16_t key_size;
    uint16_t payload_size;
    bool inserted;
  };
  static constexpr size_t kKeepBytes = size_t{64} * 1024;

  static size_t change_bytes(KeydromeBytes key, KeydromeBytes payload) {
    return size_t{key.size} + payload.size + sizeof(Footer);
  }
  void reserve(size_t bytes);
  Footer newest_footer() const;

  std::vector<uint8_t> bytes_;
};

}  // namespace keydrome::runtime
