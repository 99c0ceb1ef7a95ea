// Computes the keys of the tables in the benchmark "tpcc": positive integers that sort like TPC-C's
// key tuples, or strings in the table customer_name.
//
// Ranges: warehouse w 1 .. kWarehousesMax, district d 1 .. 10, customer c 1 .. 4,095, order o <
// 2^32, order line 1 .. 15, item i 1 .. 131,071. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace keydrome::tpcc {

inline constexpr int64_t kDistricts = 10;  // districts of a warehouse
inline constexpr int64_t kWarehousesMax = 32767;
inline constexpr int64_t kLinesMin = 5, kLinesMax = 15;  // lines of an order

// Widths, in bits, of the parts of a key that come after the warehouse, the district or the order.
inline constexpr int32_t kCustomerBits = 12, kCustomerPartBits = 3;
inline constexpr int32_t kOrderBits = 32, kLineBits = 4;
inline constexpr int32_t kCustomerOrderBits = 44;
inline constexpr int32_t kItemBits = 17, kStockPartBits = 2;
// Keys of customer_orders contain kNewestOrder - o, so the newest order is first.
inline constexpr int64_t kNewestOrder = 0xffffffff;

constexpr int64_t district_key(int64_t w, int64_t d) { return w << 4 | d; }

// Returns the key of a part of a customer's row (rows.h). Part 0 contains the names and the
// counters that transactions change, part 1 the address, parts 2 to 7 C_DATA.
constexpr int64_t customer_key(int64_t district, int64_t c, int64_t part) {
  return (district << kCustomerBits | c) << kCustomerPartBits | part;
}
constexpr int64_t history_key(int64_t district, int64_t thread, int64_t number) {
  return district << 44 | thread << 32 | number;
}
// Returns the key of an order in orders and in new_order.
constexpr int64_t order_key(int64_t district, int64_t o) { return district << kOrderBits | o; }
constexpr int64_t order_line_key(int64_t order, int64_t number) {
  return order << kLineBits | number;
}
// Returns the key in customer_orders, where a customer's newest order is first.
constexpr int64_t order_by_customer_key(int64_t district, int64_t c, int64_t o) {
  return district << kCustomerOrderBits | c << kOrderBits | (kNewestOrder - o);
}
// Returns the key of a part of a stock row (rows.h). Part 0 contains S_DIST_10 and the fields that
// transactions change, parts 1 to 3 the other S_DIST.
constexpr int64_t stock_key(int64_t w, int64_t i, int64_t part) {
  return (w << kItemBits | i) << kStockPartBits | part;
}

// Returns the part of a stock row that contains S_DIST_d.
constexpr int64_t dist_part(int64_t d) { return d == kDistricts ? 0 : (d - 1) / 3 + 1; }

// Returns the common prefix of the customer_name keys of all customers of a district who have this
// last name.
std::string name_prefix(int64_t w, int64_t d, std::string_view last);
std::string name_key(int64_t w, int64_t d, std::string_view last, std::string_view first,
                     int64_t c);

}  // namespace keydrome::tpcc
