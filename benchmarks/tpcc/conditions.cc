#include "benchmarks/tpcc/conditions.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/tpcc/keys.h"

namespace keydrome::tpcc {
namespace {

constexpr int64_t kCustomerParts = 8, kStockParts = 4;  // records of a row

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

// What is known of a district's orders from several tables.
struct Orders {
  int64_t count = 0, highest = 0;
  int64_t new_count = 0, new_lowest = INT64_MAX, new_highest = 0;
  int64_t lines_said = 0, lines = 0;
};

class Checker {
 public:
  Checker(const State& state, const Shape& shape, const Done& done, const std::string& when,
          Findings& findings)
      : state_(state), shape_(shape), done_(done), when_(when), findings_(findings) {}

  void run() {
    if (state_.malformed > 0) {
      findings_.required("malformed_row",
                         when_ + ": " + std::to_string(state_.malformed) +
                             " records are no rows of their table, the first one in " +
                             state_.first_malformed);
    }
    row_counts();
    money_received();
    collect_orders();
    orders_of_districts();
    lines_of_orders();
    customers();
    index_agreement();
    totals();
  }

 private:
  void expect(const char* name, int64_t a, int64_t b, const std::string& what) {
    if (a == b) return;
    findings_.required(
        name, when_ + ": " + what + ": " + std::to_string(a) + " and " + std::to_string(b));
  }

  void row_counts() {
    const int64_t w = shape_.warehouses, d = w * kDistricts, c = d * shape_.customers;
    const auto rows = [&](Table table, int64_t wanted) {
      const auto index = static_cast<std::size_t>(table);
      expect("row_count", static_cast<int64_t>(state_.records[index]), wanted,
             "records of " + std::string(kTables[index].name) + " that are there and must be");
    };
    rows(Table::kWarehouse, w);
    rows(Table::kDistrict, d);
    rows(Table::kCustomer, c * kCustomerParts);
    rows(Table::kItem, shape_.items);
    rows(Table::kStock, w * shape_.items * kStockParts);
    rows(Table::kHistory, c + done_.payments);
  }

  // 1, 8, 9.
  void money_received() {
    Sums districts, to_warehouse, to_district;
    for (const DistrictRow& row : state_.districts) districts[row.district >> 4] += row.ytd;
    for (const HistoryRow& row : state_.history) {
      to_warehouse[row.to_district >> 4] += row.amount;
      to_district[row.to_district] += row.amount;
    }
    for (const WarehouseRow& row : state_.warehouses) {
      const std::string where = " of warehouse " + std::to_string(row.w);
      expect("condition_1", row.ytd, at(districts, row.w), "W_YTD and the sum of D_YTD" + where);
      expect("condition_8", row.ytd, at(to_warehouse, row.w),
             "W_YTD and the sum of H_AMOUNT" + where);
    }
    for (const DistrictRow& row : state_.districts) {
      expect("condition_9", row.ytd, at(to_district, row.district),
             "D_YTD and the sum of H_AMOUNT of " + district_text(row.district));
    }
  }

  void collect_orders() {
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

  // 2, 3, 4, 11, b, c.
  void orders_of_districts() {
    for (const DistrictRow& row : state_.districts) {
      const Orders& orders = orders_[row.district];
      const std::string where = " of " + district_text(row.district);
      const int64_t last = row.next_order - 1;
      expect("condition_2", last, orders.highest, "D_NEXT_O_ID - 1 and max(O_ID)" + where);
      if (orders.new_count > 0) {
        expect("condition_2", last, orders.new_highest, "D_NEXT_O_ID - 1 and max(NO_O_ID)" + where);
        expect("condition_3", orders.new_highest - orders.new_lowest + 1, orders.new_count,
               "the span of NO_O_ID and the number of new orders" + where);
      }
      expect("condition_4", orders.lines_said, orders.lines,
             "the sum of O_OL_CNT and the number of order lines" + where);
      if (done_.deliveries) {
        expect("condition_11", orders.count - orders.new_count,
               shape_.delivered() + at(*done_.deliveries, row.district),
               "orders without new orders, and those that were delivered," + where);
      }
      // Keys are unique, so the count says that none is missing.
      expect("order_numbers", orders.count, last,
             "the number of orders and D_NEXT_O_ID - 1" + where);
      expect("order_count", last, shape_.customers + at(done_.orders, row.district),
             "D_NEXT_O_ID - 1 and the orders that were committed" + where);
    }
  }

  // 5, 6, 7.
  void lines_of_orders() {
    std::map<int64_t, bool> delivered;
    Sums fresh;
    for (const OrderNumberRow& row : state_.new_orders) {
      fresh[order_key(row.district, row.key_o)] = 1;
    }
    for (const OrderRow& row : state_.orders) {
      const int64_t order = order_key(row.district, row.o);
      const std::string which =
          "order " + std::to_string(row.o) + " of " + district_text(row.district);
      delivered[order] = row.carrier != 0;
      if ((row.carrier == 0) != (fresh.erase(order) > 0)) {
        findings_.required("condition_5",
                           when_ + ": " + which +
                               (row.carrier == 0 ? " has no carrier and is no new order"
                                                 : " has a carrier and is a new order"));
      }
      expect("condition_6", row.lines, at(lines_, order), "O_OL_CNT and the lines of " + which);
    }
    if (!fresh.empty()) {
      findings_.required("condition_5",
                         when_ + ": " + std::to_string(fresh.size()) + " new orders are no orders");
    }
    for (const LineRow& row : state_.lines) {
      const auto order = delivered.find(row.order);
      if (order != delivered.end() && order->second == (row.delivery != 0)) continue;
      const int64_t district = row.order >> kOrderBits;
      findings_.required("condition_7",
                         when_ + ": a line of order " + std::to_string(row.order & kNewestOrder) +
                             " of " + district_text(district) +
                             " has a delivery date and its order no carrier, or the reverse");
    }
  }

  // 10, 12.
  void customers() {
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
      const std::string who =
          "customer " + std::to_string(row.c) + " of " + district_text(row.district);
      expect("condition_10", row.balance, at(delivered, id) - at(paid, id),
             "C_BALANCE, and delivered amounts less payments, of " + who);
      expect("condition_12", row.balance + row.ytd_payment, at(delivered, id),
             "C_BALANCE + C_YTD_PAYMENT, and delivered amounts, of " + who);
    }
  }

  // a.
  void index_agreement() {
    std::vector<std::pair<std::string, int64_t>> wanted, names;
    for (const CustomerRow& row : state_.customers) wanted.emplace_back(row.name_key, row.c);
    for (const NameRow& row : state_.names) names.emplace_back(row.key, row.c);
    std::sort(wanted.begin(), wanted.end());
    std::sort(names.begin(), names.end());
    if (wanted != names) {
      findings_.required("index_agreement",
                         when_ + ": customer_name has not one entry for each customer");
    }
    using Entry = std::array<int64_t, 4>;
    std::vector<Entry> orders, entries;
    for (const OrderRow& row : state_.orders) {
      orders.push_back({row.district, row.c, row.o, row.o});
    }
    for (const OrderNumberRow& row : state_.by_customer) {
      entries.push_back({row.district, row.c, row.key_o, row.o});
    }
    std::sort(orders.begin(), orders.end());
    std::sort(entries.begin(), entries.end());
    if (orders != entries) {
      findings_.required("index_agreement",
                         when_ + ": order_by_customer has not one entry for each order");
    }
  }

  // d, and the counters of the customers.
  void totals() {
    int64_t ytd = 0, orders = 0, remotes = 0, payments = 0, deliveries = 0, delivered = 0;
    for (const StockRow& row : state_.stock) {
      ytd += row.ytd;
      orders += row.orders;
      remotes += row.remotes;
    }
    expect("stock_sum", ytd, done_.quantity, "the sum of S_YTD and what was ordered");
    expect("stock_sum", orders, done_.lines, "the sum of S_ORDER_CNT and the lines ordered");
    expect("stock_sum", remotes, done_.remote_lines,
           "the sum of S_REMOTE_CNT and the remote lines ordered");
    for (const CustomerRow& row : state_.customers) {
      payments += row.payments;
      deliveries += row.deliveries;
    }
    const int64_t customers = shape_.warehouses * kDistricts * shape_.customers;
    expect("payment_count", payments, customers + done_.payments,
           "the sum of C_PAYMENT_CNT and the payments committed");
    if (!done_.deliveries) return;
    for (const auto& [district, count] : *done_.deliveries) delivered += count;
    expect("payment_count", deliveries, delivered,
           "the sum of C_DELIVERY_CNT and the orders delivered");
  }

  const State& state_;
  const Shape& shape_;
  const Done& done_;
  const std::string& when_;
  Findings& findings_;
  std::map<int64_t, Orders> orders_;  // by district_key
  Sums lines_;                        // by order_key
};

}  // namespace

void check_conditions(const State& state, const Shape& shape, const Done& done,
                      const std::string& when, Findings& findings) {
  Checker(state, shape, done, when, findings).run();
}

}  // namespace keydrome::tpcc
