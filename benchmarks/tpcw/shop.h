// The rows of the shop by their keys: as they were loaded, as a scan found them, and as they must
// be after what was committed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"
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

// Without authors and titles, which nobody writes: the default judge knows their rows. Keys of
// stripes, which are negative or begin with '!', are left out.
struct Shop {
  std::map<int64_t, ItemRow> items;
  std::map<int64_t, int64_t> by_subject;  // item
  std::map<int64_t, CustomerRow> customers;
  std::map<std::string, int64_t, std::less<>> names;  // customer
  std::set<int64_t> addresses;
  std::map<int64_t, OrderRow> orders;
  std::map<int64_t, LineRow> lines;
  std::map<int64_t, int64_t> by_customer;  // number of the order
  std::map<int64_t, int64_t> carts;        // quantity
  uint64_t malformed = 0;  // records that are no row of their table, or a second one of their key
  Table first_malformed = kTables;
};

// What phase `verify` found.
Shop read_scan(const Script& script, const Outcome& outcome, uint32_t verify);

// A shop as it must be. Prices may have been changed in any order.
struct Books {
  Shop shop;  // without the prices and stocks of items and the amounts of lines since the load
  std::map<int64_t, std::set<int64_t>> new_prices;  // by item
  std::map<int64_t, int64_t> sold;                  // since the load, by item
};

// As loaded.
Books open_books(const Script& script, uint32_t load);
// Adds the transactions of phase `run` that committed. Which lines an order got is known, because
// only one thread has its cart.
void keep_books(const Script& script, const Outcome& outcome, uint32_t run, Books& books);

}  // namespace keydrome::tpcw
