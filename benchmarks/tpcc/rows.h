// The payloads of the tables: fields of fixed width behind the tag. Texts are padded with '!',
// which sorts below all letters and digits; numbers have digits of base 94 (kit/digits.h). Money is
// in cents, taxes and discounts in 1/10,000. Null is the number 0.
//
// A payload has room for 92 characters, so large rows are split into parts. Every field that a
// transaction writes is in the part that the others read, so nothing that contends is taken apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "benchmarks/kit/digits.h"

namespace keydrome::tpcc {

inline constexpr std::size_t kNameWidth = 16;  // C_LAST, C_FIRST
inline constexpr std::size_t kRowMax = 92;
inline constexpr char kPadding = '!';

inline std::string padded(std::string_view text, std::size_t width) {
  std::string wide(text);
  wide.resize(width, kPadding);
  return wide;
}

// warehouse and district: name 10, street 20, street 20, city 20, state 2, the four digits of the
// zip code that differ.
inline constexpr uint8_t kPlaceName = 0, kPlaceNameWidth = 10;
inline constexpr uint32_t kPlaceText = 76;
inline constexpr Field kTax{76, 2};
inline constexpr Field kYtd{78, 6};
inline constexpr Field kNextOrder{84, 5};  // district only
inline constexpr uint32_t kWarehouseBytes = 84, kDistrictBytes = 89;

// customer, part 0; then last 16, first 16, middle 2, credit limit 8, since 14.
inline constexpr Field kBalance{0, 6, true};
inline constexpr Field kYtdPayment{6, 6};
inline constexpr Field kPaymentCount{12, 4};
inline constexpr Field kDeliveryCount{16, 4};
inline constexpr Field kDiscount{20, 2};
inline constexpr Field kCredit{22, 2};  // "GC" or "BC", compared as a number
inline constexpr uint32_t kLastAt = 24, kFirstAt = 40;
inline constexpr Field kCreditLimit{58, 6};
inline constexpr Field kSince{64, 7};
inline constexpr uint32_t kCustomerBytes = 71;

// customer, parts 2 to 7: C_DATA, 500 characters. Payment by a customer with bad credit puts
// kDataHead characters in front.
inline constexpr int64_t kDataParts = 6, kFirstDataPart = 2;
inline constexpr uint32_t kDataBytes = 500, kLastPartBytes = kDataBytes - 5 * kRowMax;
inline constexpr uint32_t kDataHead = 16;
inline constexpr Field kHeadCustomer{0, 2}, kHeadCustomerDistrict{2, 1},
    kHeadCustomerWarehouse{3, 3}, kHeadDistrict{6, 1}, kHeadWarehouse{7, 3}, kHeadAmount{10, 4};

inline constexpr Field kNameCustomer{0, 2};  // customer_name

// history; then data: both names with four characters between.
inline constexpr Field kHistoryWarehouse{0, 3}, kHistoryDistrict{3, 1}, kHistoryCustomer{4, 2},
    kHistoryTo{6, 3}, kHistoryToDistrict{9, 1}, kHistoryDate{10, 7}, kHistoryAmount{17, 4};
inline constexpr uint8_t kHistoryData = 21;
inline constexpr uint32_t kHistoryBytes = kHistoryData + 24;

inline constexpr Field kOrderCustomer{0, 2}, kOrderDate{2, 7}, kOrderCarrier{9, 1},
    kOrderLines{10, 1}, kOrderLocal{11, 1};
inline constexpr uint32_t kOrderBytes = 12;

inline constexpr Field kOrderNumber{0, 5};  // new_order, order_by_customer

// order_line; then dist info 24.
inline constexpr Field kLineItem{0, 3}, kLineSupply{3, 3}, kLineDelivery{6, 7},
    kLineQuantity{13, 1}, kLineAmount{14, 4};
inline constexpr uint8_t kLineDist = 18, kDistWidth = 24;
inline constexpr uint32_t kLineBytes = kLineDist + kDistWidth;

// item: image 3, price 3, name 24, data 50.
inline constexpr Field kItemImage{0, 3}, kPrice{3, 3};
inline constexpr uint32_t kItemBytes = 80;

// stock, part 0; then data 50, S_DIST_10. Parts 1 to 3: three S_DIST each.
inline constexpr Field kQuantity{0, 2}, kStockYtd{2, 5}, kOrderCount{7, 4}, kRemoteCount{11, 4};
inline constexpr uint8_t kStockDist = 65;
inline constexpr uint32_t kStockBytes = kStockDist + kDistWidth;

// Where S_DIST_d stands in its part.
constexpr int64_t dist_at(int64_t d) { return d == 10 ? kStockDist : (d - 1) % 3 * kDistWidth; }

}  // namespace keydrome::tpcc
