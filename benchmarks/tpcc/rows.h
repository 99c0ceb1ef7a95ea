// Defines the rows of the tables in the benchmark "tpcc": fields of fixed width, stored in the
// payload after the tag (its first eight characters).
//
// Texts are padded with '!', which sorts before all letters and digits. Numbers have digits of base
// 94 (kit/format/digits.h). Money is in cents, taxes and discounts in 1/10,000. Null is the number
// 0.
//
// A payload has room for 92 characters, so large rows are split into parts. Part 0 contains all
// fields that transactions change, except C_DATA. A transaction that changes C_DATA changes part 0
// too. Splitting a row therefore leaves its contention unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "benchmarks/kit/format/digits.h"

namespace keydrome::tpcc {

inline constexpr std::size_t kNameWidth = 16;  // C_LAST, C_FIRST
inline constexpr std::size_t kRowMax = 92;
inline constexpr char kPadding = '!';

inline std::string padded(std::string_view text, std::size_t width) {
  std::string wide(text);
  wide.resize(width, kPadding);
  return wide;
}

// Rows of warehouse and district begin with these texts, padded to fixed widths: name 10, street
// 20, street 20, city 20, state 2, and the first four digits of the zip code.
inline constexpr uint8_t kPlaceName = 0, kPlaceNameWidth = 10;
inline constexpr uint32_t kPlaceText = 76;
inline constexpr format::Field kTax{76, 2};
inline constexpr format::Field kYtd{78, 6};
inline constexpr format::Field kNextOrder{84, 5};  // only in rows of district
inline constexpr uint32_t kWarehouseBytes = 84, kDistrictBytes = 89;

// Part 0 of a customer. The names are between the credit and the credit limit: last name 16, first
// name 16, middle name 2 characters.
inline constexpr format::Field kBalance{0, 6, true};
inline constexpr format::Field kYtdPayment{6, 6};
inline constexpr format::Field kPaymentCount{12, 4};
inline constexpr format::Field kDeliveryCount{16, 4};
inline constexpr format::Field kDiscount{20, 2};
// "GC" for good or "BC" for bad credit, compared as a number
inline constexpr format::Field kCredit{22, 2};
inline constexpr uint32_t kLastAt = 24, kFirstAt = 40;
inline constexpr format::Field kCreditLimit{58, 6};
inline constexpr format::Field kSince{64, 7};
inline constexpr uint32_t kCustomerBytes = 71;

// Parts 2 to 7 of a customer: C_DATA, 500 characters. A Payment of a customer with bad credit
// inserts kDataHead characters at the front.
inline constexpr int64_t kDataParts = 6, kFirstDataPart = 2;
inline constexpr uint32_t kDataBytes = 500, kLastPartBytes = kDataBytes - 5 * kRowMax;
inline constexpr uint32_t kDataHead = 16;
inline constexpr format::Field kHeadCustomer{0, 2}, kHeadCustomerDistrict{2, 1},
    kHeadCustomerWarehouse{3, 3}, kHeadDistrict{6, 1}, kHeadWarehouse{7, 3}, kHeadAmount{10, 4};

inline constexpr format::Field kNameCustomer{0, 2};  // row of customer_name

// Fields of history. H_DATA follows: the names of warehouse and district with four dots between.
inline constexpr format::Field kHistoryWarehouse{0, 3}, kHistoryDistrict{3, 1},
    kHistoryCustomer{4, 2}, kHistoryTo{6, 3}, kHistoryToDistrict{9, 1}, kHistoryDate{10, 7},
    kHistoryAmount{17, 4};
inline constexpr uint8_t kHistoryData = 21;
inline constexpr uint32_t kHistoryBytes = kHistoryData + 24;

inline constexpr format::Field kOrderCustomer{0, 2}, kOrderDate{2, 7}, kOrderCarrier{9, 1},
    kOrderLines{10, 1}, kOrderLocal{11, 1};
inline constexpr uint32_t kOrderBytes = 12;

inline constexpr format::Field kOrderNumber{0, 5};  // row of new_order and customer_orders

// Fields of order_line. OL_DIST_INFO follows, 24 characters.
inline constexpr format::Field kLineItem{0, 3}, kLineSupply{3, 3}, kLineDelivery{6, 7},
    kLineQuantity{13, 1}, kLineAmount{14, 4};
inline constexpr uint8_t kLineDist = 18, kDistWidth = 24;
inline constexpr uint32_t kLineBytes = kLineDist + kDistWidth;

// Fields of an item: image 3, price 3, then name 24 and data 50 characters.
inline constexpr format::Field kItemImage{0, 3}, kPrice{3, 3};
inline constexpr uint32_t kItemBytes = 80;

// Fields of part 0 of a stock row. S_DATA (50 characters) and S_DIST_10 follow these fields. Parts
// 1 to 3 have three S_DIST each.
inline constexpr format::Field kQuantity{0, 2}, kStockYtd{2, 5}, kOrderCount{7, 4},
    kRemoteCount{11, 4};
inline constexpr uint8_t kStockDist = 65;
inline constexpr uint32_t kStockBytes = kStockDist + kDistWidth;

// Returns the offset of S_DIST_d in its part.
constexpr int64_t dist_at(int64_t d) { return d == 10 ? kStockDist : (d - 1) % 3 * kDistWidth; }

}  // namespace keydrome::tpcc
