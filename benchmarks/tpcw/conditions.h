// What must hold in the shop, after the load and after the run.
//
// Findings, all required:
//   malformed_row    a record is no row of its table, or the second one of its key
//   row_count        a table has not the rows that were loaded or committed
//   order_lines      an order has not the lines that were in its buyer's cart
//   line_amount      a line's amount is not its quantity times a price that the item has had
//   order_total      an order's total is not the sum of its lines less the customer's discount
//   stock            an item's stock is not what it was, less what was sold, filled up as it must
//   item_price       an item has a price that nobody gave it, or an old one
//   logins           a customer's logins are not as many as committed: an update was lost
//   cart             a cart does not hold what its client put in and has not bought
//   index_agreement  a secondary index has not exactly one entry for each row
// What transactions saw is judged where they saw it: one that reads half an order, or misses a row
// that must be there, and commits is the kit's missing_record.
#pragma once

#include <string>

#include "benchmarks/kit/finding.h"
#include "benchmarks/tpcw/shop.h"

namespace keydrome::tpcw {

// `when` stands in the findings: "after the load".
void check_shop(const Books& books, const Shop& found, const std::string& when, Findings& findings);

}  // namespace keydrome::tpcw
