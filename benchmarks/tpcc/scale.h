// Scale: the sizes of a run of the benchmark "tpcc", computed from its parameters.
#pragma once

#include <cstdint>

#include "benchmarks/kit/workload/parameters.h"

namespace keydrome::tpcc {

struct Scale {
  explicit Scale(const workload::Parameters& parameters)
      : threads(parameters.u32("threads")),
        per_open(parameters.u32("transactions_per_open")),
        warehouses(parameters["warehouses"]),
        items(parameters["items"]),
        customers(parameters["customers_per_district"]),
        transactions(parameters["transactions_per_thread"]),
        remote_percent(parameters["remote_percent"]),
        two_transactions(parameters["new_order_and_payment_only"] != 0),
        any_warehouse(parameters["any_warehouse"] != 0) {}

  // Returns the number of loaded orders of a district that are delivered. A district has one order
  // per customer, and the newest 30 % are undelivered.
  int64_t delivered() const { return customers * 7 / 10; }
  // Returns the number of different last names: one per customer of a district, at most 1,000.
  int64_t names() const { return customers < 1000 ? customers : 1000; }
  // Returns an item number that no item has.
  int64_t unused_item() const { return items + 1; }

  uint32_t threads, per_open;
  int64_t warehouses, items, customers;  // customers of each district
  int64_t transactions;                  // transactions of each thread
  int64_t remote_percent;                // kStandardRemote stands for TPC-C's own rule
  bool two_transactions, any_warehouse;
};

inline constexpr int64_t kStandardRemote = -1;

// Loaded amounts of a customer, in cents.
inline constexpr int64_t kFirstPayment = 1000, kFirstBalance = -1000;

}  // namespace keydrome::tpcc
