// The condition check of the benchmark "tpcw": invariants of the web shop, checked after the load
// and after the run.
//
// Findings, all required (each fails the library):
// - malformed_row: a record is not a valid row of its table, or is the second record of its key
// - row_count: a table lacks rows that were loaded or committed, or has other rows
// - order_lines: an order does not have the lines that were in the buyer's cart
// - line_amount: the amount of a line is not its quantity times a price that the item has had
// - order_total: the total of an order is not the sum of its lines minus the discount
// - stock: the stock of an item does not follow from the loaded stock and the quantity sold
// - item_price: the price of an item is wrong. If committed transactions changed the price, it must
//   be one of their prices; otherwise it must be the loaded price
// - logins: a customer's count of logins differs from the number of committed logins: a lost update
// - cart: a cart differs from the items that its client added and has not bought
// - index_agreement: a secondary index does not have exactly one entry per row
//
// A transaction that reads half an order, or misses an existing row, must not commit. If it does,
// the judge that all benchmarks share (kit/judge) reports missing_record.
#pragma once

#include <string>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/tpcw/shop.h"

namespace keydrome::tpcw {

// Adds a finding for each violated condition. `when` becomes part of the findings, e.g. "after the
// load".
void check_shop(const Books& books, const Shop& found, const std::string& when,
                judge::Findings& findings);

}  // namespace keydrome::tpcw
