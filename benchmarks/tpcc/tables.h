// Lists the eleven indices of the benchmark "tpcc": nine tables of TPC-C and two secondary indices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keydrome/index.h"

namespace keydrome::tpcc {

// A table's number is also the number of its index in the script and of its slot. The slot is the
// variable in which the player, the process that makes the calls, keeps the open handle.
enum class Table : uint8_t {
  kWarehouse,
  kDistrict,
  kCustomer,
  kCustomerName,  // secondary index: customers by last name
  kHistory,
  kOrders,
  kOrderByCustomer,  // secondary index: orders by customer, newest first
  kNewOrder,
  kOrderLine,
  kItem,
  kStock,
};

struct TableSpec {
  std::string_view name;
  KeyType type;
};

inline constexpr std::array kTables = {
    TableSpec{"warehouse", SHORT},     TableSpec{"district", SHORT},
    TableSpec{"customer", INT},        TableSpec{"customer_name", VARCHAR},
    TableSpec{"history", INT},         TableSpec{"orders", INT},
    TableSpec{"customer_orders", INT}, TableSpec{"new_order", INT},
    TableSpec{"order_line", INT},      TableSpec{"item", SHORT},
    TableSpec{"stock", INT},
};

constexpr uint8_t slot(Table table) { return static_cast<uint8_t>(table); }

}  // namespace keydrome::tpcc
