// Numbering: small numbers for what a history touches. A *cell* is a key of an index, an *element*
// a record: a payload under a cell. Cells are numbered in order, index after index, so that scans
// become intervals of numbers.
//
// Cost: two hash lookups for each event, 8 bytes for each event and 28 for each element. Thread
// safety: constant after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/history.h"

namespace keydrome {

inline constexpr uint32_t kNoNumber = 0xffffffff;
// The cell of a getNext from a place that is not known, so that only whether the record is there
// can be judged: its thread had several handles of the index, and an event does not say whose
// cursor moved; or it had looked for a key that nobody knows.
inline constexpr uint32_t kAnyCursor = 0xfffffffe;

// What an event is about; kNoNumber where it is about none (DB_END, KEY_NOTFOUND of get, commits).
struct Bound {
  uint32_t cell = kNoNumber;
  uint32_t element = kNoNumber;
};

struct Cell {
  int64_t key;
  uint32_t index;
};

struct Numbering {
  // Every event has a known call and an index that exists (see transactions.h).
  explicit Numbering(const History& history);

  std::vector<std::vector<Bound>> bounds;  // beside history.threads
  std::vector<Cell> cells;                 // sorted by index and key
  std::vector<uint32_t> first_cells;       // of each index, and the end
  std::vector<uint32_t> element_cells;     // cell of each element
};

}  // namespace keydrome
