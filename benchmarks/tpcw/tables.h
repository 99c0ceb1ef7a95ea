// Defines the tables of the web shop in the benchmark "tpcw": indices, keys, and the fields of
// rows.
//
// Keys are positive numbers in the order of the key tuples. Numbers of items, authors, customers,
// addresses and orders begin at 1. Money is in cents, dates are days. Thread safety: pure
// functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "benchmarks/kit/format/digits.h"
#include "keydrome/index.h"

namespace keydrome::tpcw {

// A table's number is also the number of its index and of its slot. The slot is the variable in
// which the player, the process that makes the calls, keeps the open handle of the index.
enum Table : uint8_t {
  kItems,
  kAuthors,
  kTitles,    // secondary index: items by title
  kSubjects,  // secondary index: items by subject, newest first
  kCustomers,
  kCustomerNames,  // secondary index: customers by name
  kAddresses,
  kOrders,  // newest first
  kOrderLines,
  kCustomerOrders,  // secondary index: orders by customer, newest first
  kCarts,           // one row per client and item in its cart
  kTables
};

struct TableSpec {
  std::string_view name;
  KeyType type;
};
inline constexpr std::array<TableSpec, kTables> kTableSpecs = {{{"items", SHORT},
                                                                {"authors", SHORT},
                                                                {"titles", VARCHAR},
                                                                {"subject_items", INT},
                                                                {"customers", SHORT},
                                                                {"customer_names", VARCHAR},
                                                                {"addresses", SHORT},
                                                                {"orders", INT},
                                                                {"order_lines", INT},
                                                                {"customer_orders", INT},
                                                                {"carts", INT}}};

// Fields of items. The title follows them.
inline constexpr format::Field kPrice{0, 3}, kStock{3, 1}, kAuthor{4, 4}, kSubject{8, 1},
    kDate{9, 3};
inline constexpr uint32_t kRelatedItems = 5;
constexpr format::Field related_item(uint32_t i) { return {static_cast<uint8_t>(12 + 4 * i), 4}; }
inline constexpr uint32_t kTitleAt = 32, kTitleBytes = 60;

// Fields of the secondary indices: the number of an item, a customer or an order.
inline constexpr format::Field kItemNumber{0, 4}, kCustomerNumber{0, 4}, kOrderNumber{0, 5};

// Fields of customers. The two names follow them.
inline constexpr format::Field kDiscount{0, 1}, kAddress{1, 4}, kLogins{5, 4};
inline constexpr uint32_t kNamesAt = 9, kNamesBytes = 30;

// Fields of orders. kOrderNumber is the first field.
inline constexpr format::Field kLines{5, 1}, kOrderCustomer{6, 4}, kOrderAddress{10, 4},
    kTotal{14, 5}, kOrderDate{19, 3};
inline constexpr uint32_t kOrderBytes = 22;

inline constexpr format::Field kLineItem{0, 4}, kLineQuantity{4, 1}, kAmount{5, 4};
inline constexpr uint32_t kLineBytes = 9;

// Fields of carts. kCartLine covers both fields: its value is item * kDigitBase + quantity.
inline constexpr format::Field kCartItem{0, 4}, kCartQuantity{4, 1}, kCartLine{0, 5};
inline constexpr uint32_t kCartBytes = 5;

inline constexpr int64_t kLinesMax = 5;  // largest number of lines in a cart or an order
inline constexpr int64_t kQuantityMax = 10;
inline constexpr int64_t kSubjectCount = 24;
inline constexpr int64_t kPriceMin = 100, kPriceMax = 99'999;

// Stock stays in [10, 30]: 21 pieces are added when it falls below 10. The stock therefore depends
// only on the total quantity sold, not on the order of the sales.
inline constexpr int64_t kStockMin = 10, kRestock = 21;

inline constexpr int32_t kItemBits = 20, kDateBits = 24, kOrderBits = 32, kLineBits = 4;
inline constexpr int64_t kNewest = 0xffffffff;  // order keys are kNewest - order
inline constexpr int64_t kLastDate = 800'000;   // keys of subject_items contain kLastDate - date
inline constexpr int64_t kToday = 40'000;

constexpr int64_t subject_key(int64_t subject, int64_t date, int64_t item) {
  return (subject << kDateBits | (kLastDate - date)) << kItemBits | item;
}
constexpr int64_t order_key(int64_t order) { return kNewest - order; }
constexpr int64_t line_key(int64_t order, int64_t line) {
  return order_key(order) << kLineBits | line;
}
constexpr int64_t customer_order_key(int64_t customer, int64_t order) {
  return customer << kOrderBits | order_key(order);
}
constexpr int64_t cart_key(int64_t client, int64_t item) { return client << kItemBits | item; }

}  // namespace keydrome::tpcw
