// Numbering: assigns small consecutive numbers to the keys and records of a history, so that later
// stages of the checker use arrays instead of hash tables.
//
// A *cell* is the number of a key of an index. An *element* is the number of a record, which is one
// payload under one key of an index. Cells are numbered index after index, and in the order of
// keys within an index, so that a scan covers an interval of cells.
//
// Cost: at most two hash lookups for each event. Memory: 8 bytes for each event, 4 for each element
// and 16 for each cell. The constructor also needs hash tables of at least 26 bytes for each
// element and each cell. Thread safety: constant after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/history/history.h"

namespace keydrome::history {

inline constexpr uint32_t kNoNumber = 0xffffffff;
// The cell of a getNext whose cursor position is unknown, for one of two reasons:
// - The thread had several open handles of the index at that time, and an event does not name its
//   handle.
// - The key argument of the thread's last get on the index was a varchar key that is not in
//   History::varchar_keys.
// For such a getNext, the checker only checks that the returned record exists.
inline constexpr uint32_t kAnyCursor = 0xfffffffe;

// The numbers of the key and the record of an event. kNoNumber if the event has none. A getNext
// with DB_END and a commit have neither key nor record. A get with KEY_NOTFOUND has no record.
struct Bound {
  uint32_t cell = kNoNumber;
  uint32_t element = kNoNumber;
};

struct Cell {
  int64_t key;
  uint32_t index;
};

struct Numbering {
  // Requires that every event has a valid call and index, as split_into_transactions() checks.
  explicit Numbering(const History& history);

  std::vector<std::vector<Bound>> bounds;  // by thread and position, as in history.threads
  std::vector<Cell> cells;                 // sorted by index and key
  // By index: its first cell. The last entry is the number of all cells.
  std::vector<uint32_t> first_cells;
  std::vector<uint32_t> element_cells;  // cell of each element
  // Usually empty. If a record was inserted several times, certify/reinserted.h can give each
  // insert an element of its own. Then this contains, for each element, the element of the previous
  // insert of the same record, or kNoNumber.
  std::vector<uint32_t> earlier;
};

}  // namespace keydrome::history
