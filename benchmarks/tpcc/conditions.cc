// Implements the check of TPC-C's consistency conditions: OrderChecker compares orders and lines,
// and MoneyChecker compares amounts and counters.
#include "benchmarks/tpcc/conditions.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/count_text.h"
#include "benchmarks/tpcc/keys.h"

namespace keydrome::tpcc {
namespace {

constexpr int64_t kCustomerParts = 8, kStockParts = 4;  // number of records per row

using Sums = std::map<int64_t, int64_t>;

int64_t at(const Sums& sums, int64_t key) {
  const auto entry = sums.find(key);
  return entry == sums.end() ? 0 : entry->second;
}

int64_t customer_id(int64_t district, int64_t c) { return district << kCustomerBits | c; }

std::string district_text(int64_t district) {
  return "district " + std::to_string(district & 15) + " of warehouse " +
         std::to_string(district >> 4);
}

std::string order_text(int64_t order) {
  return "order " + std::to_string(order & kNewestOrder) + " of " +
         district_text(order >> kOrderBits);
}

// Reports findings. The text of each begins with `when`.
class Reporter {
 public:
  Reporter(const std::string& when, judge::Findings& findings) : when_(when), findings_(findings) {}

  void report(const char* name, const std::string& text) {
    findings_.required(name, when_ + ": " + text);
  }

  // Reports the two numbers if they differ, because they must be equal.
  void expect_equal(const char* name, int64_t a, const std::string& what_a, int64_t b,
                    const std::string& what_b, const std::string& where = "") {
    if (a == b) return;
    report(name, what_a + where + " is " + std::to_string(a) + ", but must equal " + what_b +
                     ", which is " + std::to_string(b));
  }

 private:
  const std::string& when_;
  judge::Findings& findings_;
};

// The numbers of rows of a district in several tables, and its highest and lowest order numbers.
struct Orders {
  int64_t count = 0, highest = 0;
  int64_t new_count = 0, new_lowest = INT64_MAX, new_highest = 0;
  int64_t lines_said = 0, lines = 0;  // the sum of O_OL_CNT, and the number of rows in order_line
};

// Checks conditions 2 to 7 and 11, order_numbers, order_count and index_agreement.
class OrderChecker {
 public:
  OrderChecker(const State& state, const Scale& scale, const Done& done, Reporter& out)
      : state_(state), scale_(scale), done_(done), out_(out) {}

  void run() {
    add_up();
    for (const DistrictRow& row : state_.districts) check_district(row);
    check_carriers();
    check_delivery_dates();
    check_customer_names();
    check_orders_by_customer();
  }

 private:
  void add_up() {
    for (const OrderRow& row : state_.orders) {
      Orders& orders = orders_[row.district];
      ++orders.count;
      orders.highest = std::max(orders.highest, row.o);
      orders.lines_said += row.lines;
    }
    for (const OrderNumberRow& row : state_.new_orders) {
      Orders& orders = orders_[row.district];
      ++orders.new_count;
      orders.new_lowest = std::min(orders.new_lowest, row.key_o);
      orders.new_highest = std::max(orders.new_highest, row.key_o);
    }
    for (const LineRow& row : state_.lines) {
      ++orders_[row.order >> kOrderBits].lines;
      ++lines_[row.order];
    }
  }

  // Checks conditions 2, 3, 4 and 11, order_numbers and order_count.
  void check_district(const DistrictRow& row) {
    const Orders& orders = orders_[row.district];
    const std::string in = " (" + district_text(row.district) + ")";
    const int64_t last = row.next_order - 1;
    const std::string what_last = "D_NEXT_O_ID - 1";
    out_.expect_equal("condition_2", last, what_last, orders.highest, "max(O_ID)", in);
    if (orders.new_count > 0) {
      out_.expect_equal("condition_2", last, what_last, orders.new_highest, "max(NO_O_ID)", in);
      out_.expect_equal("condition_3", orders.new_highest - orders.new_lowest + 1,
                        "max(NO_O_ID) - min(NO_O_ID) + 1", orders.new_count,
                        "the number of NEW-ORDER rows", in);
    }
    out_.expect_equal("condition_4", orders.lines_said, "the sum of O_OL_CNT", orders.lines,
                      "the number of order lines", in);
    if (done_.deliveries) {
      out_.expect_equal("condition_11", orders.count - orders.new_count,
                        "the number of orders without a NEW-ORDER row",
                        scale_.delivered() + at(*done_.deliveries, row.district),
                        "the number of delivered orders", in);
    }
    // Keys are unique, and condition_2 bounds the numbers. If the counts are equal, all numbers are
    // therefore used.
    out_.expect_equal("order_numbers", orders.count, "the number of orders", last, what_last, in);
    out_.expect_equal("order_count", last, what_last,
                      scale_.customers + at(done_.orders, row.district),
                      "the number of orders that were loaded or committed", in);
  }

  // Checks conditions 5 and 6.
  void check_carriers() {
    Sums unmatched;  // by order: NEW-ORDER rows without an order
    for (const OrderNumberRow& row : state_.new_orders) {
      unmatched[order_key(row.district, row.key_o)] = 1;
    }
    for (const OrderRow& row : state_.orders) {
      const int64_t order = order_key(row.district, row.o);
      const bool delivered = row.carrier != 0, is_new = unmatched.erase(order) > 0;
      delivered_[order] = delivered;
      if (!delivered && !is_new) {
        out_.report("condition_5", order_text(order) +
                                       " is undelivered (O_CARRIER_ID is null), but has no "
                                       "NEW-ORDER row");
      }
      if (delivered && is_new) {
        out_.report("condition_5", order_text(order) +
                                       " is delivered (it has an O_CARRIER_ID), but still has a "
                                       "NEW-ORDER row");
      }
      out_.expect_equal("condition_6", row.lines, "O_OL_CNT", at(lines_, order),
                        "the number of the order's lines", " (" + order_text(order) + ")");
    }
    if (!unmatched.empty()) {
      out_.report("condition_5", "every NEW-ORDER row must belong to an order, but " +
                                     count_text(unmatched.size(), "NEW-ORDER row") +
                                     (unmatched.size() == 1 ? " belongs" : " belong") +
                                     " to no order");
    }
  }

  // Checks condition 7.
  void check_delivery_dates() {
    for (const LineRow& row : state_.lines) {
      const bool has_date = row.delivery != 0;
      const auto order = delivered_.find(row.order);
      if (order != delivered_.end() && order->second == has_date) continue;
      out_.report("condition_7", "line " + std::to_string(row.number) + " of " +
                                     order_text(row.order) + " has " + (has_date ? "a" : "no") +
                                     " delivery date, but " +
                                     (order == delivered_.end() ? "the order does not exist"
                                      : order->second           ? "the order is delivered"
                                                                : "the order is undelivered"));
    }
  }

  void check_customer_names() {
    std::vector<std::pair<std::string, int64_t>> wanted, names;
    for (const CustomerRow& row : state_.customers) wanted.emplace_back(row.name_key, row.c);
    for (const NameRow& row : state_.names) names.emplace_back(row.key, row.c);
    std::sort(wanted.begin(), wanted.end());
    std::sort(names.begin(), names.end());
    if (wanted == names) return;
    out_.report("index_agreement",
                "the entries of the index customer_name do not agree with the rows of customer: "
                "each customer must have exactly one entry with its name");
  }

  void check_orders_by_customer() {
    using Entry = std::array<int64_t, 4>;
    std::vector<Entry> wanted, entries;
    for (const OrderRow& row : state_.orders) {
      wanted.push_back({row.district, row.c, row.o, row.o});
    }
    for (const OrderNumberRow& row : state_.by_customer) {
      entries.push_back({row.district, row.c, row.key_o, row.o});
    }
    std::sort(wanted.begin(), wanted.end());
    std::sort(entries.begin(), entries.end());
    if (wanted == entries) return;
    out_.report("index_agreement",
                "the entries of the index customer_orders do not agree with the rows of orders: "
                "each order must have exactly one entry with its customer");
  }

  const State& state_;
  const Scale& scale_;
  const Done& done_;
  Reporter& out_;
  std::map<int64_t, Orders> orders_;   // by district_key
  Sums lines_;                         // by order_key: number of order lines
  std::map<int64_t, bool> delivered_;  // by order_key
};

// Checks conditions 1, 8, 9, 10 and 12, row_count, stock_sum and payment_count.
class MoneyChecker {
 public:
  MoneyChecker(const State& state, const Scale& scale, const Done& done, Reporter& out)
      : state_(state), scale_(scale), done_(done), out_(out) {}

  void run() {
    check_row_counts();
    check_receipts();
    check_customers();
    check_stock();
    check_counters();
  }

 private:
  void check_row_counts() {
    const int64_t warehouses = scale_.warehouses, districts = warehouses * kDistricts;
    const int64_t customers = districts * scale_.customers;
    const auto expect_rows = [&](Table table, int64_t wanted, const char* more = "") {
      const auto index = static_cast<std::size_t>(table);
      const auto records = static_cast<int64_t>(state_.records[index]);
      if (records == wanted) return;
      out_.report("row_count", "the table " + std::string(kTables[index].name) + " has " +
                                   count_text(records, "record") + ", but must have " +
                                   std::to_string(wanted) + ": those that were loaded" + more);
    };
    expect_rows(Table::kWarehouse, warehouses);
    expect_rows(Table::kDistrict, districts);
    expect_rows(Table::kCustomer, customers * kCustomerParts);
    expect_rows(Table::kItem, scale_.items);
    expect_rows(Table::kStock, warehouses * scale_.items * kStockParts);
    expect_rows(Table::kHistory, customers + done_.payments,
                ", and one for each committed payment");
  }

  // Checks conditions 1, 8 and 9.
  void check_receipts() {
    Sums districts, to_warehouse, to_district;
    for (const DistrictRow& row : state_.districts) districts[row.district >> 4] += row.ytd;
    for (const HistoryRow& row : state_.history) {
      to_warehouse[row.to_district >> 4] += row.amount;
      to_district[row.to_district] += row.amount;
    }
    for (const WarehouseRow& row : state_.warehouses) {
      const std::string in = " (warehouse " + std::to_string(row.w) + ")";
      out_.expect_equal("condition_1", row.ytd, "W_YTD in cents", at(districts, row.w),
                        "the sum of D_YTD", in);
      out_.expect_equal("condition_8", row.ytd, "W_YTD in cents", at(to_warehouse, row.w),
                        "the sum of H_AMOUNT", in);
    }
    for (const DistrictRow& row : state_.districts) {
      out_.expect_equal("condition_9", row.ytd, "D_YTD in cents", at(to_district, row.district),
                        "the sum of H_AMOUNT", " (" + district_text(row.district) + ")");
    }
  }

  // Checks conditions 10 and 12.
  void check_customers() {
    Sums owner, delivered, paid;
    for (const OrderRow& row : state_.orders) {
      owner[order_key(row.district, row.o)] = customer_id(row.district, row.c);
    }
    for (const LineRow& row : state_.lines) {
      if (row.delivery != 0) delivered[at(owner, row.order)] += row.amount;
    }
    for (const HistoryRow& row : state_.history) {
      paid[customer_id(row.of_district, row.c)] += row.amount;
    }
    for (const CustomerRow& row : state_.customers) {
      const int64_t id = customer_id(row.district, row.c);
      const std::string in =
          " (customer " + std::to_string(row.c) + " of " + district_text(row.district) + ")";
      out_.expect_equal("condition_10", row.balance, "C_BALANCE in cents",
                        at(delivered, id) - at(paid, id),
                        "the sum of delivered amounts minus the sum of payments", in);
      out_.expect_equal("condition_12", row.balance + row.ytd_payment,
                        "C_BALANCE + C_YTD_PAYMENT in cents", at(delivered, id),
                        "the sum of delivered amounts", in);
    }
  }

  void check_stock() {
    int64_t ytd = 0, orders = 0, remotes = 0;
    for (const StockRow& row : state_.stock) {
      ytd += row.ytd;
      orders += row.orders;
      remotes += row.remotes;
    }
    out_.expect_equal("stock_sum", ytd, "the sum of S_YTD", done_.quantity, "the quantity ordered");
    out_.expect_equal("stock_sum", orders, "the sum of S_ORDER_CNT", done_.lines,
                      "the number of lines ordered");
    out_.expect_equal("stock_sum", remotes, "the sum of S_REMOTE_CNT", done_.remote_lines,
                      "the number of remote lines ordered");
  }

  // Checks the counters in the rows of the customers.
  void check_counters() {
    int64_t payments = 0, deliveries = 0, delivered = 0;
    for (const CustomerRow& row : state_.customers) {
      payments += row.payments;
      deliveries += row.deliveries;
    }
    const int64_t customers = scale_.warehouses * kDistricts * scale_.customers;
    out_.expect_equal("payment_count", payments, "the sum of C_PAYMENT_CNT",
                      customers + done_.payments,
                      "the number of payments that were loaded or committed");
    if (!done_.deliveries) return;
    for (const auto& [district, count] : *done_.deliveries) delivered += count;
    out_.expect_equal("payment_count", deliveries, "the sum of C_DELIVERY_CNT", delivered,
                      "the number of orders delivered");
  }

  const State& state_;
  const Scale& scale_;
  const Done& done_;
  Reporter& out_;
};

}  // namespace

void check_conditions(const State& state, const Scale& scale, const Done& done,
                      const std::string& when, judge::Findings& findings) {
  Reporter out(when, findings);
  if (state.malformed > 0) {
    out.report("malformed_row",
               count_text(state.malformed, "record") +
                   (state.malformed == 1 ? " has a payload" : " have payloads") +
                   " that cannot be a row of the table: a column is missing, or contains letters "
                   "where a number must be. The first is " +
                   state.first_malformed);
  }
  MoneyChecker(state, scale, done, out).run();
  OrderChecker(state, scale, done, out).run();
}

}  // namespace keydrome::tpcc
