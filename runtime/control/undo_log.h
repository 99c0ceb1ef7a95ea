// What a transaction has changed in place, so that it can be taken back.
//
// Thread safety: none; belongs to one transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "keydrome/structure.h"

namespace keydrome::runtime {

class Index;

// One change. Bytes are borrowed from the log.
struct Change {
  Index* index;
  bool inserted;  // else deleted
  KeydromeBytes key;
  KeydromeBytes payload;
};

class UndoLog {
 public:
  // Makes room for one record; throws std::bad_alloc. Call it before the change, append after it.
  void reserve(KeydromeBytes key, KeydromeBytes payload);
  // After reserve for the same sizes: does not fail.
  void append(const Change& change);

  // For undoing only a part: where the log stands now, in bytes.
  size_t mark() const { return bytes_.size(); }
  bool empty_beyond(size_t mark) const { return bytes_.size() <= mark; }
  // The newest change; valid until the log is changed. Only when not empty.
  Change newest() const;
  void drop_newest();
  // Gives memory back after an unusually large transaction.
  void clear();

 private:
  // Follows the bytes of its change, so that the log can be read backwards.
  struct Footer {
    Index* index;
    uint16_t key_size;
    uint16_t payload_size;
    bool inserted;
  };
  static constexpr size_t kKeepBytes = size_t{64} * 1024;

  Footer newest_footer() const;

  std::vector<uint8_t> bytes_;
};

}  // namespace keydrome::runtime
