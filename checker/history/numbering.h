// Numbering: assigns small consecutive numbers to the keys and records of a history, so that later
// stages of the checker use arrays instead of hash tables.
//
// A *cell* is the number of a key of an index. An *element* is the number of a record, which is one
// payload under one key of an index. Cells are numbered index after index, and in the order of
// keys within an index, so that a scan covers an interval of cells.
//
// A *cursor* is where the next getNext of a scan continues. If a thread has several open handles of
// an index, CursorScope says whether they share a cursor. The cursors of an index have consecutive
// numbers. If no thread has several open handles of an index, each index has one cursor.
//
// Cost: at most two hash lookups for each event. Memory: 8 bytes for each event, 4 for each element
// and 16 for each cell. The constructor also needs hash tables of at least 26 bytes for each
// element and each cell. Thread safety: constant after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/history/calls.h"
#include "checker/history/history.h"

namespace keydrome::history {

inline constexpr uint32_t kNoNumber = 0xffffffff;
// The cell of a getNext whose cursor position is unknown, for one of three reasons:
// - Each handle has its own cursor, and the event only says that the handle's number is at least
//   kEventManyHandles (event.h).
// - The key argument of the last get with this cursor was a varchar key that is not in
//   History::varchar_keys.
// - The getNext returned such a key, so the scan may have passed any of the known keys or none.
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

// Which handles share a cursor. The contract advises one cursor for each handle, but it also allows
// one cursor for all handles of an index.
enum class CursorScope : uint8_t { kHandle, kIndex };

struct Numbering {
  // Requires that every event has a valid call and index, as split_into_transactions() checks.
  explicit Numbering(const History& history, CursorScope scope = CursorScope::kHandle);

  // Returns the number of the cursor that the call uses.
  uint32_t cursor_of(const Event& event) const {
    const uint32_t first = first_cursors[event.index];
    return first_cursors[event.index + 1] - first == 1 ? first : first + handle_of(event);
  }
  // Calls `visit` with the number of each cursor of the index.
  template <typename Visit>
  void for_each_cursor(uint32_t index, Visit visit) const {
    for (uint32_t i = first_cursors[index]; i < first_cursors[index + 1]; ++i) visit(i);
  }

  std::vector<std::vector<Bound>> bounds;  // by thread and position, as in history.threads
  std::vector<Cell> cells;                 // sorted by index and key
  // By index: its first cell. The last entry is the number of all cells.
  std::vector<uint32_t> first_cells;
  // By index: its first cursor. The last entry is the number of all cursors.
  std::vector<uint32_t> first_cursors;
  std::vector<uint32_t> element_cells;  // cell of each element
  // Usually empty. If a record was inserted several times, certify/reinserted.h can give each
  // insert an element of its own. `earlier` then contains, for each element, the element of the
  // previous insert of the same record, or kNoNumber.
  std::vector<uint32_t> earlier;
};

// Returns true if some call used another handle than the thread's first handle of the index. Only
// then does CursorScope matter.
bool has_several_handles(const History& history);

}  // namespace keydrome::history
