// Model: a reference implementation of contract A, the ten functions of an index library
// (keydrome/index.h), for one client at a time. It replays recorded calls and decides for each call
// whether the recorded result is right.
//
// The state of the model is a set of payloads for each key of each index, and the cursors of the
// current transaction (numbering.h). Transactions run one after the other. rewind() undoes changes:
// callers use it for abortTransaction, and to try another order of transactions. For concurrent
// transactions, certify() and search_orders() look for a serial order, and replay the transactions
// on the model in this order.
//
// The contract (docs/reference/index-api.md) allows more than one result in these cases:
// - The payloads of a key are returned in any order, each payload once.
// - A scan may return or leave out a record that the transaction inserted under the cursor's key,
//   even if get() had found no record of that key before.
// - Deleting a missing pair returns ENTRY_DNE or KEY_NOTFOUND. If the key has other payloads,
//   KEY_NOTFOUND breaks an advisory promise, i.e. causes only a warning (breaks_delete_code()).
//
// Each of these events makes all cursors of the index *loose*:
// - The transaction deleted one pair, under any key of the index.
// - The client called openIndex or closeIndex.
// A cursor is also loose if getNext was called while its position is unknown (kAnyCursor in
// numbering.h).
// The next getNext of a loose cursor may return any existing record, or DB_END. A returned record
// *anchors* the cursor: from then on the scan must return every record of the later keys, in order.
// Of the other records of the same key, the scan may return each once or leave it out.
//
// After DB_END, a getNext may start the scan again: it returns the first record of the index. This
// breaks an advisory promise. In one case the model cannot tell whether the scan started again: if
// the transaction inserted the returned record under the cursor's key. The old scan may have
// returned this record, too. So the record anchors the cursor.
//
// The model accepts DEADLOCK, FAILURE, TXN_DNE and DB_DNE as the result of any call on records.
// Such a call changes nothing.
//
// An *element* is the number of a record and a *cell* the number of a key (numbering.h). Cost: O(1)
// for most calls; a scan step also skips empty cells (cell_lists.h), and deleting n payloads costs
// O(n). Memory: 12 bytes for each element, 8 for each cell, and 8 for each change since settle().
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/history/event.h"
#include "checker/history/numbering.h"
#include "checker/model/cell_lists.h"
#include "checker/model/cursor_notes.h"

namespace keydrome::model {

enum class Mismatch : uint8_t {
  kNone,
  // The record that the call returned, deleted or refused with ENTRY_EXISTS does not exist.
  kRecordIsMissing,
  kRecordIsThere,    // the call did not find, or inserted again, a record that exists
  kShownTwice,       // getNext returned a record for the second time
  kNotTheNext,       // getNext skipped a record or went backwards
  kRecordsAreLeft,   // getNext returned DB_END although more records follow
  kNothingToDelete,  // deleteRecord of all payloads succeeded on a key without payloads
};

// Explains what Model::breaks_delete_code() means, as a sentence without full stop.
inline constexpr const char* kDeleteCodeText =
    "deleteRecord of a missing pair must return ENTRY_DNE, not KEY_NOTFOUND, if the key has other "
    "payloads";

// Says which records contradict the result of the call, such as "the record exists at this point".
// The text continues a sentence about the result.
std::string text_of(Mismatch mismatch, history::EventCall call);

class Model {
 public:
  // `numbering` must outlive the model.
  explicit Model(const history::Numbering& numbering);

  // Begins a transaction, which places every cursor before the first record.
  void begin();

  // Checks the result of one call. A right result is applied to the records and the cursor. A wrong
  // result leaves the records unchanged, but the cursor of the index is then undefined.
  Mismatch apply(const history::Event& event, history::Bound bound);

  // mark() remembers the current records, and rewind() restores them. Marks nest. rewind() does not
  // restore cursors.
  std::size_t mark() const { return journal_.size(); }
  void rewind(std::size_t mark);
  // Makes all changes final: empties the journal that rewind() uses, so that it does not grow for
  // ever. Earlier marks become invalid.
  void settle() { journal_.clear(); }

  bool contains(uint32_t element) const { return contents_.contains(element); }
  // Returns true if the last applied call was right, but returned KEY_NOTFOUND for a missing pair
  // of a key that has payloads. The contract asks for ENTRY_DNE there, but this rule is only
  // advisory.
  bool breaks_delete_code() const { return breaks_delete_code_; }
  // Returns true if the element exists under the key of the cursor with this number, and getNext
  // must still return it.
  bool owes(uint32_t cursor, uint32_t element) const;

 private:
  enum class Place : uint8_t {
    kStart,   // before the first record
    kAtCell,  // at a key; getNext must still return `left` of its records
    kLoose,   // unknown: getNext may return any existing record, which anchors the cursor
  };
  struct Cursor {
    // The transaction for which the members are valid. In any other one, the cursor is at kStart.
    uint32_t transaction = 0;
    Place place = Place::kStart;
    bool at_end = false;  // true if the last getNext returned DB_END
    uint32_t cell = 0;
    CursorPosition position;  // for notes_
    uint32_t left = 0;        // records of the key that getNext must still return
    bool anchored = false;    // the cursor was loose when it moved to the key, so `left` stays 0
  };

  Mismatch get(const history::Event& event, history::Bound bound);
  Mismatch next(const history::Event& event, history::Bound bound);
  Mismatch step_to(const history::Event& event, Cursor& cursor, history::Bound bound);
  Mismatch step_in_key(Cursor& cursor, uint32_t element);
  Mismatch end_of_scan(const history::Event& event, Cursor& cursor);
  Mismatch insert(const history::Event& event, history::Bound bound);
  Mismatch delete_pair(const history::Event& event, history::Bound bound);
  Mismatch delete_key(const history::Event& event, history::Bound bound);

  // Returns the cursor of the call.
  Cursor& cursor(const history::Event& event) { return cursor(numbering_.cursor_of(event)); }
  Cursor& cursor(uint32_t number);
  // Calls `visit` for every cursor of the index.
  template <typename Visit>
  void for_each_cursor(uint32_t index, Visit visit) {
    numbering_.for_each_cursor(index, [&](uint32_t number) { visit(cursor(number)); });
  }
  void loosen_cursors(uint32_t index);
  void move_to(Cursor& cursor, uint32_t cell);
  void anchor(Cursor& cursor, uint32_t element);
  // Returns the first cell >= `cell` of the index that contains a record, or kNoNumber if there is
  // no such cell.
  uint32_t occupied_from(uint32_t index, uint32_t cell) const;
  void erase(uint32_t element);
  // Returns true if an earlier insert of the same record (Numbering::earlier) still stores it.
  bool is_there_from_before(uint32_t element) const;

  const history::Numbering& numbering_;
  CellLists contents_;
  CursorNotes notes_;
  std::vector<Cursor> cursors_;    // by number
  std::vector<uint64_t> journal_;  // one number per change: element * 2, plus 1 for an insert
  uint32_t transaction_ = 0;
  uint32_t serial_ = 0;
  bool breaks_delete_code_ = false;
};

}  // namespace keydrome::model
