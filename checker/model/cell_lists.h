// CellLists: a set of records of a recorded history, such as the records that exist at some time.
// It lists the records of each key, and finds the next key that has a record.
//
// Keys and records are numbers from a Numbering: a *cell* is a key of an index, an *element* is a
// record. Every operation costs O(1), except next_occupied(), which reads one 64-bit word for each
// 4096 empty cells. Thread safety: one thread at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "checker/history/numbering.h"

namespace keydrome::model {

class CellLists {
 public:
  explicit CellLists(const history::Numbering& numbering)
      : cell_of_(numbering.element_cells),
        links_(numbering.element_cells.size(), Link{kAbsent, kAbsent}),
        heads_(numbering.cells.size(), history::kNoNumber),
        counts_(numbering.cells.size(), 0),
        words_(numbering.cells.size() / 64 + 1, 0),
        summary_(words_.size() / 64 + 1, 0) {}

  bool contains(uint32_t element) const { return links_[element].next != kAbsent; }
  uint32_t count(uint32_t cell) const { return counts_[cell]; }
  // first() returns the first element of a cell. after() returns the next element of the same cell.
  // Both return kNoNumber at the end of the list.
  uint32_t first(uint32_t cell) const { return heads_[cell]; }
  uint32_t after(uint32_t element) const { return links_[element].next; }

  // Requires !contains(element).
  void insert(uint32_t element) {
    const uint32_t cell = cell_of_[element];
    const uint32_t head = heads_[cell];
    links_[element] = {head, history::kNoNumber};
    if (head != history::kNoNumber) {
      links_[head].previous = element;
    } else {
      words_[cell >> 6] |= bit(cell);
      summary_[cell >> 12] |= bit(cell >> 6);
    }
    heads_[cell] = element;
    ++counts_[cell];
  }

  // Requires contains(element).
  void remove(uint32_t element) {
    const uint32_t cell = cell_of_[element];
    const Link link = links_[element];
    if (link.next != history::kNoNumber) links_[link.next].previous = link.previous;
    if (link.previous != history::kNoNumber) {
      links_[link.previous].next = link.next;
    } else {
      heads_[cell] = link.next;
    }
    links_[element] = {kAbsent, kAbsent};
    if (--counts_[cell] > 0) return;
    words_[cell >> 6] &= ~bit(cell);
    if (words_[cell >> 6] == 0) summary_[cell >> 12] &= ~bit(cell >> 6);
  }

  // Returns the first cell >= `cell` that has an element, or kNoNumber if no cell has one.
  uint32_t next_occupied(uint32_t cell) const {
    std::size_t word = cell >> 6;
    if (word >= words_.size()) return history::kNoNumber;
    const uint64_t rest = words_[word] >> (cell & 63);
    if (rest != 0) return cell + static_cast<uint32_t>(std::countr_zero(rest));
    std::size_t block = ++word >> 6;
    if (block >= summary_.size()) return history::kNoNumber;
    uint64_t words = summary_[block] & (~uint64_t{0} << (word & 63));
    while (words == 0) {
      if (++block >= summary_.size()) return history::kNoNumber;
      words = summary_[block];
    }
    word = block * 64 + static_cast<std::size_t>(std::countr_zero(words));
    return static_cast<uint32_t>(word * 64 +
                                 static_cast<std::size_t>(std::countr_zero(words_[word])));
  }

 private:
  struct Link {
    uint32_t next;
    uint32_t previous;
  };
  static constexpr uint32_t kAbsent = history::kNoNumber - 1;
  static uint64_t bit(uint32_t position) { return uint64_t{1} << (position & 63); }

  const std::vector<uint32_t>& cell_of_;
  std::vector<Link> links_;
  std::vector<uint32_t> heads_;
  std::vector<uint32_t> counts_;
  std::vector<uint64_t> words_;    // bit per cell: 1 if the cell has an element
  std::vector<uint64_t> summary_;  // bit per word of words_: 1 if the word is not 0
};

}  // namespace keydrome::model
