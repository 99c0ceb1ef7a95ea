// Model: contract A for one client at a time. It says of each recorded answer whether it is right
// in the state that the answers before it led to.
//
// The state is a set of payloads for each key of each index, and a cursor for each index in the
// current transaction. Transactions run one after the other; what a transaction did can be taken
// back (rewind), which serves abortTransaction and the search of brute force alike. Concurrency is
// not the model's business: certify() and search_orders() look for a serial order, and the model
// judges that.
//
// Freedoms of the contract (docs/reference/index-api.md; DESIGN.md section 1):
// - The payloads of a key come in any order, each of them once.
// - An own insert under the cursor's key may show in the scan or not, also where get() had found no
//   such key before.
// - Deleting a missing pair of a missing key: ENTRY_DNE or KEY_NOTFOUND.
// - What is advisory is not judged: after an own deletion of one pair of the cursor's key, after
//   openIndex or closeIndex in the transaction, and after a scan that starts again behind DB_END,
//   getNext may show any record that is there, until a get places the cursor again.
// - DEADLOCK, FAILURE and misuse codes say nothing about the records and change nothing.
//
// Cost: O(1) for a call, but O(n) for deleting n payloads; memory 20 bytes for each element and 8
// for each cell. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/cell_lists.h"
#include "checker/event.h"
#include "checker/numbering.h"

namespace keydrome {

enum class Mismatch : uint8_t {
  kNone,
  kRecordIsMissing,  // it returned or deleted a record that is not there
  kRecordIsThere,    // it said that a record or key is missing that is there
  kShownTwice,       // getNext showed a record again
  kNotTheNext,       // getNext passed over a record, or went backwards
  kRecordsAreLeft,   // DB_END, though records follow
  kNothingToDelete,  // deleteRecord of all payloads succeeded without any
};

// One sentence for people, without full stop.
std::string text_of(Mismatch mismatch);

class Model {
 public:
  // `numbering` outlives the model.
  explicit Model(const Numbering& numbering);

  // Cursors start anew.
  void begin();

  // Judges one answer and, if it is right, takes its effect over. If it is wrong the state is
  // unchanged but for the cursor, which stands anywhere.
  Mismatch apply(const Event& event, Bound bound);

  // A mark of the current contents, and the way back to it. Marks nest. Cursors are not restored.
  std::size_t mark() const { return journal_.size(); }
  void rewind(std::size_t mark);
  // Forgets what marks before now would need, so that the journal does not grow for ever.
  void settle() { journal_.clear(); }

  bool contains(uint32_t element) const { return contents_.contains(element); }

 private:
  enum class Place : uint8_t {
    kStart,   // before the first record
    kAtCell,  // in a cell; `left` of its records must still be shown
    kLoose,   // anywhere: what follows is advisory
  };
  struct Cursor {
    uint32_t transaction = 0;  // the cursor is kStart in any other
    Place place = Place::kStart;
    bool at_end = false;  // the last answer was DB_END
    uint32_t cell = 0;
    uint32_t serial = 0;  // of the placement in the cell
    uint32_t left = 0;    // records of the cell not shown yet that must be
  };

  Mismatch get(const Event& event, Bound bound);
  Mismatch next(const Event& event, Bound bound);
  Mismatch step_to(const Event& event, Cursor& cursor, Bound bound);
  Mismatch step_within(Cursor& cursor, uint32_t element);
  Mismatch end_of_scan(const Event& event, Cursor& cursor);
  Mismatch insert(const Event& event, Bound bound);
  Mismatch delete_pair(const Event& event, Bound bound);
  Mismatch delete_key(const Event& event, Bound bound);

  Cursor& cursor(uint32_t index);
  void place_in(Cursor& cursor, uint32_t cell);
  // The first occupied cell of the index at or behind `cell`; kNoNumber if there is none.
  uint32_t occupied_from(uint32_t index, uint32_t cell) const;
  void erase(uint32_t element);

  // What a cursor knows about an element, valid while the cursor's serial is that one.
  static uint32_t shown(const Cursor& cursor) { return cursor.serial * 2; }
  static uint32_t optional(const Cursor& cursor) { return cursor.serial * 2 + 1; }

  const Numbering& numbering_;
  CellLists contents_;
  std::vector<uint32_t> notes_;    // by element: shown(cursor) or optional(cursor)
  std::vector<Cursor> cursors_;    // by index
  std::vector<uint64_t> journal_;  // element * 2, plus 1 for an insert
  uint32_t transaction_ = 0;
  uint32_t serial_ = 0;
};

}  // namespace keydrome
