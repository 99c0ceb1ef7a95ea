// The row check of the benchmark "tatp": compares the rows after a run with the loaded rows and the
// committed transactions.
//
// Findings, all required (each fails the library):
// - row_count: a subscriber or facility is missing or occurs twice, or a forwarding occurs twice,
//   or its presence contradicts the results of the transactions
// - lost_update: a row or a column is not as the last change by one of the threads left it
// - changed_column: a column has another value than the transaction wrote, or has changed although
//   no transaction writes it
// - impossible_result: a committed transaction counted destinations that cannot have existed, or
//   succeeded or failed without reason
// - impossible_read: a get_subscriber_data returned no row, the row of another subscriber, or one
//   that its own thread had replaced
// - malformed_row: a record is not a valid row of its table
//
// The results of insert_call_forwarding, delete_call_forwarding and get_new_destination come from
// the evidence (copied results) that these transactions leave. Without evidence (`--plain`), the
// judge does not check these results. Of the forwardings it then checks only that none occurs
// twice.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/tatp/books.h"
#include "benchmarks/tatp/tables.h"

namespace keydrome::tatp {

// A row that the final scan found: how many records have its key, and the tag (unique number) and
// the text of one of them.
struct FoundRow {
  uint32_t rows = 0;
  uint32_t tag = 0;
  std::string text;
};

// The rows of subscriber, facility and call_forwarding that phase `verify` found.
struct FoundRows {
  std::array<std::vector<FoundRow>, kTables> rows;  // by table and row
  std::vector<std::string> malformed;  // a sentence about each record that is no valid row
};

FoundRows read_rows(const script::Script& script, const script::Outcome& outcome, uint32_t verify,
                    uint32_t subscribers);

// Adds a finding for each difference.
void check_rows(const script::Pools& pools, const Books& books, const FoundRows& found,
                judge::Findings& findings);

}  // namespace keydrome::tatp
