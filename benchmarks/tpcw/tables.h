// The shop's tables: indices, keys whose order is that of their tuples, all of them positive, and
// the fields of rows.
//
// Numbers of items, authors, customers, addresses and orders begin at 1. Money is in cents, dates
// are days. Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "benchmarks/kit/digits.h"
#include "keydrome/index.h"

namespace keydrome::tpcw {

// Also the number of the index and of the slot that has it open.
enum Table : uint8_t {
  kItems,
  kAuthors,
  kTitles,    // secondary: title, then the item's number
  kSubjects,  // secondary: subject, the newest first
  kCustomers,
  kCustomerNames,  // secondary
  kAddresses,
  kOrders,  // the newest first
  kOrderLines,
  kCustomerOrders,  // secondary: customer, the newest first
  kCarts,           // a row for each item in the cart of a client
  kTables
};

struct TableSpec {
  std::string_view name;
  KeyType type;
};
inline constexpr std::array<TableSpec, kTables> kTableSpecs = {{{"items", SHORT},
                                                                {"authors", SHORT},
                                                                {"titles", VARCHAR},
                                                                {"items_by_subject", INT},
                                                                {"customers", SHORT},
                                                                {"customer_names", VARCHAR},
                                                                {"addresses", SHORT},
                                                                {"orders", INT},
                                                                {"order_lines", INT},
                                                                {"orders_by_customer", INT},
                                                                {"carts", INT}}};

// items; then the title.
inline constexpr Field kPrice{0, 3}, kStock{3, 1}, kAuthor{4, 4}, kSubject{8, 1}, kDate{9, 3};
inline constexpr uint32_t kRelatedItems = 5;
constexpr Field related_item(uint32_t i) { return {static_cast<uint8_t>(12 + 4 * i), 4}; }
inline constexpr uint32_t kTitleAt = 32, kTitleBytes = 60;

// The secondary indices of items, of customers, and of orders.
inline constexpr Field kItemNumber{0, 4}, kCustomerNumber{0, 4}, kOrderNumber{0, 5};

// customers; then the two names.
inline constexpr Field kDiscount{0, 1}, kAddress{1, 4}, kLogins{5, 4};
inline constexpr uint32_t kNamesAt = 9, kNamesBytes = 30;

// orders; then the number, as kOrderNumber.
inline constexpr Field kLines{5, 1}, kOrderCustomer{6, 4}, kOrderAddress{10, 4}, kTotal{14, 5},
    kOrderDate{19, 3};
inline constexpr uint32_t kOrderBytes = 22;

inline constexpr Field kLineItem{0, 4}, kLineQuantity{4, 1}, kAmount{5, 4};
inline constexpr uint32_t kLineBytes = 9;

// carts. Both together are one number: item * kDigitBase + quantity.
inline constexpr Field kCartItem{0, 4}, kCartQuantity{4, 1}, kCartLine{0, 5};
inline constexpr uint32_t kCartBytes = 5;

inline constexpr int64_t kLinesMax = 5;  // of a cart and of an order
inline constexpr int64_t kQuantityMax = 10;
inline constexpr int64_t kSubjectCount = 24;

// Stock stays in [10, 30]: what falls below 10 is filled up by 21. So it is known from the sum of
// what was sold, in whatever order.
inline constexpr int64_t kStockMin = 10, kRestock = 21;

inline constexpr int32_t kItemBits = 20, kDateBits = 24, kOrderBits = 32, kLineBits = 4;
inline constexpr int64_t kNewest = 0xffffffff;  // orders count down from it
inline constexpr int64_t kLastDate = 800'000;   // dates count down from it in items_by_subject
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
