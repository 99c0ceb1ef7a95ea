// The condition check of the benchmark "tpcc": TPC-C's consistency conditions (clause 3.3.2) and
// further invariants, checked on the rows that a scan of all records read.
//
// Findings, all required (each fails the library). For condition_1 to condition_12 the list gives
// the condition that must hold, in the column names of TPC-C. For the others it gives the error:
//
// - condition_1: W_YTD = sum of D_YTD of its districts
// - condition_2: D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)
// - condition_3: the NEW-ORDER rows of a district have consecutive numbers
// - condition_4: sum of O_OL_CNT = number of order lines, by district
// - condition_5: an order has no carrier if and only if it has a NEW-ORDER row
// - condition_6: O_OL_CNT = number of lines of the order
// - condition_7: an order line has no delivery date if and only if its order has no carrier
// - condition_8: W_YTD = sum of H_AMOUNT
// - condition_9: D_YTD = sum of H_AMOUNT
// - condition_10: C_BALANCE = amounts of the customer's delivered lines - the payments
// - condition_11: orders - NEW-ORDER rows = orders loaded as delivered + later deliveries
// - condition_12: C_BALANCE + C_YTD_PAYMENT = amounts of the customer's delivered lines
// - index_agreement: a secondary index does not have exactly one entry per row
// - order_numbers: the orders of a district are not numbered 1 .. D_NEXT_O_ID - 1
// - order_count: D_NEXT_O_ID - 1 differs from the number of orders that were loaded or committed
// - stock_sum: S_YTD, S_ORDER_CNT and S_REMOTE_CNT differ from the sums of committed orders
// - payment_count: the payments or deliveries counted in the rows of customers differ from those
//   that were loaded or committed
// - row_count: warehouse, district, customer, item, stock or history does not have the expected
//   number of records
// - malformed_row: a record is not a valid row of its table
//
// NewOrder transactions that were rolled back must leave no trace. order_count and order_numbers
// check this. The judge that all benchmarks share (kit/judge) also recognises the records of such
// transactions by the unique numbers in their payloads (tags), and reports impossible_record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/tpcc/scale.h"
#include "benchmarks/tpcc/state.h"

namespace keydrome::tpcc {

// The effects of the committed transactions. Empty for the check after the load.
struct Done {
  std::map<int64_t, int64_t> orders;  // how many orders were inserted, by district_key
  // How many orders were delivered, by district_key. Unknown if the transactions left no evidence
  // (copies of their results).
  std::optional<std::map<int64_t, int64_t>> deliveries;
  int64_t lines = 0, quantity = 0, remote_lines = 0;
  int64_t payments = 0;
};

// Adds a finding for each violated condition. `when` becomes part of the findings, e.g. "after the
// load".
void check_conditions(const State& state, const Scale& scale, const Done& done,
                      const std::string& when, judge::Findings& findings);

}  // namespace keydrome::tpcc
