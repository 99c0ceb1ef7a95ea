// State: the contents of the tables of the benchmark "tpcc", as the final scan of all records
// returned them. Contains only the fields that the consistency conditions (conditions.h) use.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/tpcc/tables.h"

namespace keydrome::tpcc {

struct WarehouseRow {
  int64_t w, ytd;
};
struct DistrictRow {
  int64_t district, ytd, next_order;  // `district` is a district_key
};
struct CustomerRow {
  int64_t district, c, balance, ytd_payment, payments, deliveries;
  std::string name_key;  // the entry that customer_name must have
};
struct NameRow {
  std::string key;
  int64_t c;
};
struct HistoryRow {
  int64_t to_district, of_district, c, amount;
};
struct OrderRow {
  int64_t district, o, c, carrier, lines;
};
struct OrderNumberRow {  // a row of new_order or customer_orders
  int64_t district, c, o, key_o;
};
struct LineRow {
  int64_t order;  // `order` is an order_key
  int64_t number, delivery, quantity, amount;
};
struct StockRow {
  int64_t key, ytd, orders, remotes;
};

// All rows in key order. Excludes the rows of stripes (checks on keys that only one thread uses),
// whose keys are negative or begin with '!'.
struct State {
  std::vector<WarehouseRow> warehouses;
  std::vector<DistrictRow> districts;
  std::vector<CustomerRow> customers;
  std::vector<NameRow> names;
  std::vector<HistoryRow> history;
  std::vector<OrderRow> orders;
  std::vector<OrderNumberRow> by_customer, new_orders;
  std::vector<LineRow> lines;
  std::vector<StockRow> stock;
  // By table: the number of records. Each part of a split row is a record.
  std::array<uint64_t, kTables.size()> records{};
  uint64_t malformed = 0;       // records that are not valid rows of their table
  std::string first_malformed;  // where the first of them is, such as "in the table item, ..."
};

State read_state(const script::Script& script, const script::PhaseOutcome& outcome, uint32_t phase);

}  // namespace keydrome::tpcc
