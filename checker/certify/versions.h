// Versions: finds for each record of a recorded history which committed transaction inserted it and
// which deleted it. A record is identified by its number, an *element*. A *cell* is the number of a
// key (numbering.h).
//
// The events of an insert and of a delete of one pair name their record. The event of a
// deleteRecord of all payloads of a key names no record. Such a delete removes two kinds of
// records:
// - Records that its transaction had seen under the key.
// - Records that its transaction had not seen, but that existed at the time of the delete. A delete
//   that may have removed such records is called *blind*.
//
// If an insert overlaps a blind delete of the same key in time, the delete may or may not have
// removed the new record. The element of this record is then *open*: it has a list of possible
// deleters, called options. One of the options is chosen as the current deleter.
//
// Cost: three passes over the events, and for each record one step for each blind delete of its
// key. Thread safety: plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checker/history/numbering.h"
#include "checker/history/transactions.h"

namespace keydrome::certify {

enum ElementNote : uint8_t {
  kInsertedByFailed = 1u << 0,
  kInsertedByUnfinished = 1u << 1,
  kDeletedByFailed = 1u << 2,
  kOpenDeleter = 1u << 3,  // `deleter` is the current option of an OpenElement
};

struct Version {
  // Positions in Transactions::committed. kNoNumber if no committed transaction is known.
  uint32_t inserter = history::kNoNumber;
  uint32_t deleter = history::kNoNumber;
};

struct OpenElement {
  uint32_t element;
  std::vector<uint32_t> options;  // possible deleters, kNoNumber for none; the likeliest first
  std::vector<uint32_t> readers;  // the committed transactions that saw the record
  // Time between the end of the inserter and the nearest end of a possible deleter. The smaller
  // this time, the less certain is the current deleter.
  uint64_t margin_ticks;
};

// A blind delete, and an insert that it must precede.
struct Precedence {
  uint32_t deleter;  // positions in Transactions::committed
  uint32_t inserter;
};

struct DoubleDelete {
  uint32_t element;
  uint32_t first;  // the two transactions, which may be the same one
  uint32_t second;
  history::EventRef event;  // the second delete
};

struct Versions {
  // Set `readers_are_late` if reads may have returned an old state. A read that returned a record
  // then does not prove that the record still existed: a blind delete may have deleted it before.
  Versions(const history::History& history, const history::Numbering& numbering,
           const history::Transactions& transactions, bool readers_are_late = false);

  std::vector<Version> of;     // by element
  std::vector<uint8_t> notes;  // by element, bits of ElementNote
  std::vector<OpenElement> open;
  // Blind deletes that did not remove a record, because a reader that began later saw the record.
  // So each deleter precedes the inserter of that record.
  std::vector<Precedence> too_early;
  // Elements whose `deleter`, which may be kNoNumber, was derived only from the times of blind
  // deletes. It is right only if the library respects real time. Some of these elements are open.
  std::vector<uint32_t> unsure;
  std::vector<DoubleDelete> double_deletes;
  // By cell: the transactions with a blind delete of the key. Each deleted at least one record.
  std::map<uint32_t, std::vector<uint32_t>> blind_deleters;
  std::vector<uint32_t>
      elements_of_cell;  // by cell: number of its elements; empty without blind deletes
  // True if a transaction whose end is not in the history wrote records. This transaction may have
  // committed.
  bool unfinished_writes = false;
  // By cell: true if such a transaction wrote records of this key. Empty if there is no such
  // transaction.
  std::vector<bool> unfinished_cells;
  std::string problem;  // why the versions are unknown; empty if they are known
};

}  // namespace keydrome::certify
