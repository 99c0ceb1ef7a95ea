// SessionTrace: remembers what the calls of a single client have done, so that check_session() can
// cite the earlier calls that a wrong result contradicts. It remembers:
// - for each record, the calls that last inserted, deleted and returned it
// - for each call, the abort that rolled it back
// - for each cursor, the position of its scan
//
// A call is identified by its position in the only thread. An *element* is the number of a record,
// a *cell* the number of a key (numbering.h). Cost: O(1) for each call, except a deleteRecord of
// all payloads, which costs O(records of the key). Memory: 16 bytes for each element, 24 for each
// cell and 4 for each event. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/history/history.h"
#include "checker/history/numbering.h"
#include "checker/model/model.h"

namespace keydrome::model {

// Stands for "no call" in a variable that contains the position of a call.
inline constexpr uint32_t kNoCall = 0xffffffff;

// The calls that last inserted, deleted and returned a record; kNoCall where there was none. An
// insert or delete counts even if it was rolled back: see SessionTrace::rolled_back_by().
struct RecordTrace {
  uint32_t inserted = kNoCall;
  uint32_t deleted = kNoCall;
  uint32_t returned = kNoCall;  // by get or getNext

  // Returns true if the last change of the record was a deletion.
  bool was_deleted_last() const {
    return deleted != kNoCall && (inserted == kNoCall || deleted > inserted);
  }
};

// The position of the scan of one cursor (numbering.h) in the current transaction.
struct ScanTrace {
  uint32_t transaction = 0;    // the other members are valid only in this transaction
  uint32_t call = kNoCall;     // the last read that moved the scan; kNoCall if none did
  uint32_t cell = 0;           // the key that the scan is at
  uint32_t entered = kNoCall;  // the read by which the scan reached this key

  bool is_placed() const { return call != kNoCall; }
};

class SessionTrace {
 public:
  // `history` must have one thread. Both arguments must outlive the trace.
  SessionTrace(const history::History& history, const history::Numbering& numbering);

  // Must be called when a transaction or an auto-committed call begins. Places every scan before
  // the first record.
  void begin_transaction() { ++transaction_; }
  // Remembers the effect of a call on records. The result of the call must be right.
  void note(uint32_t call, const history::Event& event, history::Bound bound);
  // Must be called after openIndex or closeIndex, which reset the scans of the index.
  void reset_scans(uint32_t index);
  // Must be called after abortTransaction. The abort at position `abort` undid the calls from
  // position `begin` to just before `abort`.
  void roll_back(uint32_t begin, uint32_t abort);

  const RecordTrace& record(uint32_t element) const { return records_[element]; }
  // Returns the abort that undid a call, or kNoCall if no abort did.
  uint32_t rolled_back_by(uint32_t call) const { return rolled_back_by_[call]; }
  // Returns the scan of the cursor with this number.
  ScanTrace& scan(uint32_t cursor);

  // Returns a record that exists under the key according to `model`. If none exists, returns the
  // record of the key that was changed last. Returns kNoNumber if no call named a record of the
  // key.
  uint32_t record_under(uint32_t cell, const Model& model) const;

  // Returns the first existing record that the scan of `cursor`, a cursor of the index, skips when
  // it moves to the cell `to`, or kNoNumber if it skips none. `model` knows which records exist. It
  // also knows which records of its key the scan must still return.
  uint32_t skipped(uint32_t index, uint32_t cursor, uint32_t to, const Model& model);

 private:
  void note_next(uint32_t call, const history::Event& event, history::Bound bound);
  uint32_t last_change(uint32_t element) const;

  const history::Numbering& numbering_;
  std::vector<RecordTrace> records_;             // by element
  std::vector<std::vector<uint32_t>> elements_;  // by cell
  std::vector<uint32_t> rolled_back_by_;         // by call
  std::vector<ScanTrace> scans_;                 // by cursor
  uint32_t transaction_ = 0;
};

}  // namespace keydrome::model
