// Cursors: the cursors of one transaction (history/numbering.h), for find_dependencies(). Following
// them shows which records each getNext covers (certify/dependencies.h).
//
// In the code, an *element* is the number of a record, and a *cell* the number of a key. Thread
// safety: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/history/numbering.h"
#include "checker/model/cursor_notes.h"

namespace keydrome::certify {

enum class CursorPlace : uint8_t {
  kStart,   // before the first record
  kAtCell,  // at the key `cell`
  kLoose,   // unknown: the next getNext may return any record, and fixes the position
};

struct Cursor {
  // The transaction for which the members are valid. In any other transaction the cursor is at
  // kStart.
  uint32_t transaction = history::kNoNumber;
  uint32_t cell = 0;
  model::CursorPosition position;  // for Cursors::notes
  CursorPlace place = CursorPlace::kStart;
  bool at_end = false;  // the last getNext returned DB_END
  // True if a scan must return all records of the key before it leaves the key. False if a get had
  // found no record of the key. Also false if the cursor was loose (CursorPlace) until getNext
  // returned a record of this key.
  bool owes_key = false;

  bool is_at(uint32_t key) const { return place == CursorPlace::kAtCell && cell == key; }
};

class Cursors {
 public:
  // `numbering` must outlive the object.
  explicit Cursors(const history::Numbering& numbering)
      : notes(numbering.element_cells.size()),
        numbering_(numbering),
        cursors_(numbering.first_cursors.back(), Cursor{.position = {.is_further = true}}) {
    for (const uint32_t first : numbering.first_cursors) {
      if (first < cursors_.size()) cursors_[first].position.is_further = false;
    }
  }

  // Must be called before the calls of each transaction. Places all cursors at the start.
  void begin(uint32_t transaction) {
    transaction_ = transaction;
    notes.begin();
  }

  // Returns the cursor of the call.
  Cursor& of(const history::Event& event) { return at(numbering_.cursor_of(event)); }

  // Calls `visit` for every cursor of the index.
  template <typename Visit>
  void for_each(uint32_t index, Visit visit) {
    numbering_.for_each_cursor(index, [&](uint32_t number) { visit(at(number)); });
  }

  void loosen(uint32_t index) {
    for_each(index, [](Cursor& cursor) { cursor.place = CursorPlace::kLoose; });
  }

  // Moves the cursor to a key.
  void enter(Cursor& cursor, uint32_t cell, bool owes_key) {
    cursor.place = CursorPlace::kAtCell;
    cursor.at_end = false;
    cursor.cell = cell;
    cursor.position.serial = ++serial_;
    cursor.owes_key = owes_key;
  }

  // Moves the cursor to a record that a call returned. `owes_key` is false if the scan may leave
  // out other records of the key, for example because the cursor was loose before.
  void move_to(Cursor& cursor, history::Bound bound, bool owes_key) {
    enter(cursor, bound.cell, owes_key);
    notes.set_returned(cursor.position, bound.element);
  }

  // Which elements of its key a cursor has returned or may leave out.
  model::CursorNotes notes;

 private:
  Cursor& at(uint32_t number) {
    Cursor& cursor = cursors_[number];
    if (cursor.transaction != transaction_) {
      const bool is_further = cursor.position.is_further;
      cursor = {.transaction = transaction_, .position = {.is_further = is_further}};
    }
    return cursor;
  }

  const history::Numbering& numbering_;
  std::vector<Cursor> cursors_;  // by number
  uint32_t transaction_ = history::kNoNumber;
  uint32_t serial_ = 0;
};

}  // namespace keydrome::certify
