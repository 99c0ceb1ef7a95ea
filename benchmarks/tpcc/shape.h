// The sizes of a session, from its parameters.
#pragma once

#include <cstdint>

#include "benchmarks/kit/parameters.h"

namespace keydrome::tpcc {

struct Shape {
  explicit Shape(const Parameters& parameters)
      : threads(static_cast<uint32_t>(parameters["threads"])),
        per_open(static_cast<uint32_t>(parameters["transactions_per_open"])),
        warehouses(parameters["warehouses"]),
        items(parameters["items"]),
        customers(parameters["customers_per_district"]),
        transactions(parameters["transactions_per_thread"]),
        remote_percent(parameters["remote_percent"]),
        two_transactions(parameters["new_order_and_payment_only"] != 0),
        any_warehouse(parameters["any_warehouse"] != 0) {}

  // As many orders as customers, as each has ordered once; the newest 30 % are not delivered.
  int64_t delivered() const { return customers * 7 / 10; }
  // There are as many last names as customers until all 1,000 are there.
  int64_t names() const { return customers < 1000 ? customers : 1000; }
  int64_t unused_item() const { return items + 1; }

  uint32_t threads, per_open;
  int64_t warehouses, items, customers;  // customers of a district
  int64_t transactions;                  // of a thread
  int64_t remote_percent;                // kStandardRemote: TPC-C's own rule
  bool two_transactions, any_warehouse;
};

inline constexpr int64_t kStandardRemote = -1;

// Money at the beginning, in cents.
inline constexpr int64_t kFirstPayment = 1000, kFirstBalance = -1000;

}  // namespace keydrome::tpcc
