// Writers: for each element, which committed transaction inserted it and which deleted it.
//
// An insert names its record, and so does the deletion of a pair. deleteRecord of all payloads of a
// key does not: its transaction deleted what it had seen there before, and of what it had not seen,
// that which must have been there by real time. Where an insert and such a *blind* deletion of its
// key overlap, both outcomes are possible: that element is *open*, with a list of options.
//
// Cost: one pass over the events, O(elements). Thread safety: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/numbering.h"
#include "checker/transactions.h"

namespace keydrome {

enum ElementNote : uint8_t {
  kInsertedByFailed = 1u << 0,
  kInsertedByUnfinished = 1u << 1,
  kDeletedByFailed = 1u << 2,
  kOpenDeleter = 1u << 3,  // `deleter` is the current option of an OpenElement
};

struct Writer {
  uint32_t inserter = kNoNumber;  // positions in Transactions::committed
  uint32_t deleter = kNoNumber;
};

struct OpenElement {
  uint32_t element;
  std::vector<uint32_t> options;  // deleters, kNoNumber for none; first by the order of calls
  uint64_t margin_ticks;          // by how little the nearest commit missed the insert's
};

struct DoubleDelete {
  uint32_t element;
  uint32_t first;  // the two transactions; the same one twice is possible
  uint32_t second;
  EventRef event;  // of the second
};

struct Writers {
  // `readers_are_late`: whoever saw a record may have seen an old state, so that tells nothing
  // about when it was deleted blindly.
  Writers(const History& history, const Numbering& numbering, const Transactions& transactions,
          bool readers_are_late = false);

  std::vector<Writer> of;      // by element
  std::vector<uint8_t> notes;  // by element, bits of ElementNote
  std::vector<OpenElement> open;
  // Elements whose deleter, or that there is none, was told by real time; includes the open ones.
  std::vector<uint32_t> unsure;
  std::vector<DoubleDelete> double_deletes;
  bool unfinished_writes = false;  // a transaction that never ended wrote something
  std::string problem;             // why the order of versions is not known; empty when it is
};

}  // namespace keydrome
