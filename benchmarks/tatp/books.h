// Books: what the judge of the benchmark "tatp" knows about its rows from the script, and from how
// the transactions ended and which results they left.
//
// A committed transaction changes a row as a whole, because the API has no update: it deletes the
// row and inserts it with one new column. The order of changes by different threads is unknown, but
// the order of changes by one thread is known. So the last change of a row must be the last change
// that one of the threads made to it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/tatp/procedures.h"
#include "benchmarks/tatp/tables.h"

namespace keydrome::tatp {

// The columns that transactions change. A forwarding is inserted and deleted as a whole.
enum class Column : uint8_t { kBit, kLocation, kData, kWholeRow };

// A change of a row by a committed transaction.
struct Change {
  uint32_t row = 0;  // number of the row in its table (tables.h)
  uint32_t thread = 0;
  uint32_t tag = 0;  // tag (unique number) of the inserted payload; kNoTag: the row was deleted
  Column column = Column::kWholeRow;
  uint32_t value = 0;  // new value of the column; of a whole row: the number of its text
  uint64_t op = 0;     // number of the op in the program of the thread
};

// A loaded row. Without a tag, the row was not loaded.
struct LoadedRow {
  uint32_t tag = 0, text = 0;
};

// The result of a procedure, a transaction whose calls depend on earlier reads. For
// kUpdateSubscriberData, `row` is a facility, and the result is 1 if the transaction committed. For
// all others, `row` is a forwarding; for kGetNewDestination, it is the latest forwarding that the
// transaction can have counted.
struct Observation {
  Transaction transaction;
  uint32_t row = 0;
  uint32_t end_hour = 0;  // kGetNewDestination only
  int64_t result = 0;
};

// A get_subscriber_data that returned no row, or a row that it cannot have read.
struct WrongRead {
  uint32_t subscriber = 0, thread = 0;
  std::string_view reason;
};

struct Books {
  std::array<std::vector<LoadedRow>, kTables> loaded;  // by table and row
  // By table, sorted by row, thread and op.
  std::array<std::vector<Change>, kTables> changes;
  std::vector<Observation> observations;
  std::vector<WrongRead> wrong_reads;
  bool exact = true;  // false if the evidence (copy) of a result is missing.
  // Transactions that the specification counts as successful, and those that failed as it foresees,
  // because a row was missing or existed already.
  uint64_t succeeded = 0, failed = 0;

  uint32_t subscribers() const { return static_cast<uint32_t>(loaded[kSubscriber].size()); }
  bool is_loaded(Table table, uint32_t row) const;
  std::span<const Change> changes_of(Table table, uint32_t row) const;
};

// Returns the number of the row with this key. Returns nothing if no subscriber can have the key.
std::optional<uint32_t> row_of(Table table, int64_t key, uint32_t subscribers);

// Computes the books from the rows that phase `load` of the script loads, and from the transactions
// of phase `run`.
Books keep_books(const script::Script& script, const script::Outcome& outcome, uint32_t load,
                 uint32_t run);

}  // namespace keydrome::tatp
