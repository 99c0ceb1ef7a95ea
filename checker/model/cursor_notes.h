// CursorNotes: remembers which records of its key a cursor has returned, and which it may leave
// out.
//
// A cursor has a serial number, which must change whenever the cursor moves to a key. A note is
// valid for one record and one serial number. Nearly always an index has one cursor, so an array
// with the latest note of each record suffices. Notes of further cursors of an index are in a hash
// table, so that they do not replace each other.
//
// Cost: O(1). Memory: 4 bytes for each element (record number), and an entry of the hash table for
// each note of a further cursor in the current transaction. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace keydrome::model {

// Identifies a cursor at a key.
struct CursorPosition {
  uint32_t serial = 0;      // below 2^31
  bool is_further = false;  // true: not the first cursor of its index (history::Numbering)
};

class CursorNotes {
 public:
  explicit CursorNotes(std::size_t elements) : latest_(elements, 0) {}

  // Must be called when a transaction begins.
  void begin() {
    if (!further_.empty()) further_.clear();
  }

  // The cursor has returned the element.
  void set_returned(CursorPosition at, uint32_t element) { note(at, element) = at.serial * 2; }
  // The cursor may return the element or leave it out, because its transaction inserted the element
  // under the cursor's key.
  void set_optional(CursorPosition at, uint32_t element) { note(at, element) = at.serial * 2 + 1; }

  bool is_returned(CursorPosition at, uint32_t element) const {
    return read(at, element) == at.serial * 2;
  }
  bool is_optional(CursorPosition at, uint32_t element) const {
    return read(at, element) == at.serial * 2 + 1;
  }
  // Returns true if the scan need not return the element any more.
  bool is_noted(CursorPosition at, uint32_t element) const {
    return read(at, element) >> 1 == at.serial;
  }

 private:
  static uint64_t key(CursorPosition at, uint32_t element) {
    return uint64_t{at.serial} << 32 | element;
  }

  uint32_t& note(CursorPosition at, uint32_t element) {
    return at.is_further ? further_[key(at, element)] : latest_[element];
  }

  uint32_t read(CursorPosition at, uint32_t element) const {
    if (!at.is_further) return latest_[element];
    const auto found = further_.find(key(at, element));
    return found == further_.end() ? 0 : found->second;
  }

  // Each value is serial * 2 for a returned element, and serial * 2 + 1 for an optional one.
  std::vector<uint32_t> latest_;                    // by element
  std::unordered_map<uint64_t, uint32_t> further_;  // by serial and element
};

}  // namespace keydrome::model
