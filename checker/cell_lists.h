// CellLists: which elements are in which cell, and which cell with an element comes next. Cells are
// the numbered keys and elements the numbered records of a Numbering.
//
// Every operation is O(1) but next_occupied(), which looks at one word for each 4096 empty cells.
// Thread safety: one thread at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "checker/numbering.h"

namespace keydrome {

class CellLists {
 public:
  explicit CellLists(const Numbering& numbering)
      : cell_of_(numbering.element_cells),
        links_(numbering.element_cells.size(), Link{kAbsent, kAbsent}),
        heads_(numbering.cells.size(), kNoNumber),
        counts_(numbering.cells.size(), 0),
        words_(numbering.cells.size() / 64 + 1, 0),
        summary_(words_.size() / 64 + 1, 0) {}

  bool contains(uint32_t element) const { return links_[element].next != kAbsent; }
  uint32_t count(uint32_t cell) const { return counts_[cell]; }
  // The first element of a cell and the one after an element; kNoNumber at the end.
  uint32_t first(uint32_t cell) const { return heads_[cell]; }
  uint32_t after(uint32_t element) const { return links_[element].next; }

  // Only an element that is not there.
  void insert(uint32_t element) {
    const uint32_t cell = cell_of_[element];
    const uint32_t head = heads_[cell];
    links_[element] = {head, kNoNumber};
    if (head != kNoNumber) {
      links_[head].previous = element;
    } else {
      words_[cell >> 6] |= bit(cell);
      summary_[cell >> 12] |= bit(cell >> 6);
    }
    heads_[cell] = element;
    ++counts_[cell];
  }

  // Only an element that is there.
  void remove(uint32_t element) {
    const uint32_t cell = cell_of_[element];
    const Link link = links_[element];
    if (link.next != kNoNumber) links_[link.next].previous = link.previous;
    if (link.previous != kNoNumber) {
      links_[link.previous].next = link.next;
    } else {
      heads_[cell] = link.next;
    }
    links_[element] = {kAbsent, kAbsent};
    if (--counts_[cell] > 0) return;
    words_[cell >> 6] &= ~bit(cell);
    if (words_[cell >> 6] == 0) summary_[cell >> 12] &= ~bit(cell >> 6);
  }

  // The first cell >= `cell` that has an element; kNoNumber when there is none.
  uint32_t next_occupied(uint32_t cell) const {
    std::size_t word = cell >> 6;
    if (word >= words_.size()) return kNoNumber;
    const uint64_t rest = words_[word] >> (cell & 63);
    if (rest != 0) return cell + static_cast<uint32_t>(std::countr_zero(rest));
    std::size_t block = ++word >> 6;
    if (block >= summary_.size()) return kNoNumber;
    uint64_t words = summary_[block] & (~uint64_t{0} << (word & 63));
    while (words == 0) {
      if (++block >= summary_.size()) return kNoNumber;
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
  static constexpr uint32_t kAbsent = kNoNumber - 1;
  static uint64_t bit(uint32_t position) { return uint64_t{1} << (position & 63); }

  const std::vector<uint32_t>& cell_of_;
  std::vector<Link> links_;
  std::vector<uint32_t> heads_;
  std::vector<uint32_t> counts_;
  std::vector<uint64_t> words_;    // a bit for each cell that has an element
  std::vector<uint64_t> summary_;  // a bit for each word that is not 0
};

}  // namespace keydrome
