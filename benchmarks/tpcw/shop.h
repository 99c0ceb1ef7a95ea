// Shop: the rows of the web shop of the benchmark "tpcw", by their keys. The check compares two
// Shops: the rows that a scan read, and the rows that must exist after the committed transactions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/tpcw/tables.h"

namespace keydrome::tpcw {

struct ItemRow {
  int64_t price, stock, subject, date;
};
struct CustomerRow {
  int64_t discount, address, logins;
};
struct OrderRow {
  int64_t number, customer, lines, total;
};
struct LineRow {
  int64_t item, quantity, amount;
};

// All rows that the check compares. Authors and titles are omitted: the run leaves them unchanged,
// and the judge that all benchmarks share checks them. The keys of stripes (checks on keys that
// only one thread uses), which are negative or begin with '!', are omitted as well.
struct Shop {
  std::map<int64_t, ItemRow> items;
  std::map<int64_t, int64_t> by_subject;  // value: item
  std::map<int64_t, CustomerRow> customers;
  std::map<std::string, int64_t, std::less<>> names;  // value: customer
  std::set<int64_t> addresses;
  std::map<int64_t, OrderRow> orders;
  std::map<int64_t, LineRow> lines;
  std::map<int64_t, int64_t> by_customer;  // value: order
  std::map<int64_t, int64_t> carts;        // value: quantity
  uint64_t malformed = 0;                  // invalid rows, and second records of a key
  Table first_malformed = kTables;
  std::string first_malformed_key;  // as text
  bool is_first_repeated = false;   // the first is a valid row, but the second one of its key
};

// Returns the rows that phase `verify` read.
Shop read_scan(const script::Script& script, const script::Outcome& outcome, uint32_t verify);

// The expected shop. Price changes commit in an unknown order, so an item has a set of possible
// prices.
struct Books {
  Shop shop;  // prices and stocks are those after the load; new orders have no amounts
  std::map<int64_t, std::set<int64_t>> new_prices;  // by item
  std::map<int64_t, int64_t> sold;                  // by item: quantity sold since the load
};

// Returns the shop as phase `load` of the script loads it.
Books open_books(const script::Script& script, uint32_t load);
// Applies the committed transactions of phase `run`. The lines of each order are known, because
// only one thread uses a cart.
void keep_books(const script::Script& script, const script::Outcome& outcome, uint32_t run,
                Books& books);

}  // namespace keydrome::tpcw
