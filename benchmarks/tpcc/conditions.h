// TPC-C's consistency conditions (clause 3.3.2) and what else the rows must show, held against a
// final scan.
//
// Findings, all required, one name for each condition:
//   condition_1   W_YTD = sum of its D_YTD
//   condition_2   D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)
//   condition_3   the new orders of a district have no gap
//   condition_4   sum of O_OL_CNT = number of order lines, by district
//   condition_5   an order has no carrier if and only if it is a new order
//   condition_6   O_OL_CNT = number of the order's lines
//   condition_7   a line has no delivery date if and only if its order has no carrier
//   condition_8   W_YTD = sum of H_AMOUNT
//   condition_9   D_YTD = sum of H_AMOUNT
//   condition_10  C_BALANCE = amounts of its delivered lines - its payments
//   condition_11  orders - new orders = those delivered when loaded + deliveries since, by district
//   condition_12  C_BALANCE + C_YTD_PAYMENT = amounts of its delivered lines
//   index_agreement   (a) a secondary index has exactly one entry for each row
//   order_numbers     (b) a district's orders are numbered 1 .. D_NEXT_O_ID - 1
//   order_count       (c) as many orders were added as NewOrder transactions committed
//   stock_sum         (d) S_YTD, S_ORDER_CNT and S_REMOTE_CNT add up to what committed transactions
//                         ordered
//   payment_count     payments and deliveries of the customers are those that committed
//   row_count         tables that only grow as known have that many rows
//   malformed_row     a record is no row of its table
// (e), no trace of NewOrder transactions that were rolled back, is order_count and order_numbers
// here, and by their tags the default judge's impossible_record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "benchmarks/kit/finding.h"
#include "benchmarks/tpcc/shape.h"
#include "benchmarks/tpcc/state.h"

namespace keydrome::tpcc {

// What the transactions that committed must have done; nothing after the load.
struct Done {
  std::map<int64_t, int64_t> orders;                     // by district_key
  std::optional<std::map<int64_t, int64_t>> deliveries;  // likewise; unknown without evidence
  int64_t lines = 0, quantity = 0, remote_lines = 0;
  int64_t payments = 0;
};

// `when` stands in the findings: "after the load".
void check_conditions(const State& state, const Shape& shape, const Done& done,
                      const std::string& when, Findings& findings);

}  // namespace keydrome::tpcc
