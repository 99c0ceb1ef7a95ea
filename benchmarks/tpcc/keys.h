// The keys of the tables: numbers whose order is the order of the tuples, all of them positive.
//
// w <= kWarehousesMax, d 1..10, c <= 4,095, o < 2^32, number of an order line 1..15, i <= 131,071.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace keydrome::tpcc {

inline constexpr int64_t kDistricts = 10;  // of a warehouse
inline constexpr int64_t kWarehousesMax = 32767;
inline constexpr int64_t kLinesMin = 5, kLinesMax = 15;  // of an order

// Bits of a key below the district, and of a key below an order.
inline constexpr int32_t kCustomerBits = 12, kCustomerPartBits = 3;
inline constexpr int32_t kOrderBits = 32, kLineBits = 4;
inline constexpr int32_t kCustomerOrderBits = 44;
inline constexpr int32_t kItemBits = 17, kStockPartBits = 2;
inline constexpr int64_t kNewestOrder = 0xffffffff;  // order_by_customer counts down from it

constexpr int64_t district_key(int64_t w, int64_t d) { return w << 4 | d; }

// Part 0 holds what transactions change, 1 the address, 2..7 C_DATA.
constexpr int64_t customer_key(int64_t district, int64_t c, int64_t part) {
  return (district << kCustomerBits | c) << kCustomerPartBits | part;
}
constexpr int64_t history_key(int64_t district, int64_t thread, int64_t number) {
  return district << 44 | thread << 32 | number;
}
// Of orders and of new_order.
constexpr int64_t order_key(int64_t district, int64_t o) { return district << kOrderBits | o; }
constexpr int64_t order_line_key(int64_t order, int64_t number) {
  return order << kLineBits | number;
}
// A customer's newest order comes first.
constexpr int64_t order_by_customer_key(int64_t district, int64_t c, int64_t o) {
  return district << kCustomerOrderBits | c << kOrderBits | (kNewestOrder - o);
}
// Part 0 holds what transactions change and S_DIST_10, parts 1..3 the other S_DIST.
constexpr int64_t stock_key(int64_t w, int64_t i, int64_t part) {
  return (w << kItemBits | i) << kStockPartBits | part;
}

// Where S_DIST_d stands.
constexpr int64_t dist_part(int64_t d) { return d == kDistricts ? 0 : (d - 1) / 3 + 1; }

// The keys of a district's customers of that last name begin with this.
std::string name_prefix(int64_t w, int64_t d, std::string_view last);
std::string name_key(int64_t w, int64_t d, std::string_view last, std::string_view first,
                     int64_t c);

}  // namespace keydrome::tpcc
