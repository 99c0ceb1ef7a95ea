// The five transactions as procedures (kit/procedure.h), and what parameters each takes.
#pragma once

#include <cstdint>
#include <string_view>

#include "benchmarks/kit/script_builder.h"

namespace keydrome::tpcc {

// Also the number of the procedure in the script and of the transaction's class.
enum class Transaction : uint8_t { kNewOrder, kPayment, kOrderStatus, kDelivery, kStockLevel };
inline constexpr uint32_t kTransactions = 5;

// Parameters in their order. Numbers of texts and strings are those of the script's pools.
//
// NewOrder, then for each line what is below. One that is rolled back asks for an unused item in
// the place of its last line.
enum NewOrderParameter : uint32_t {
  kNewWarehouse,   // w
  kNewDistrict,    // district_key
  kNewCustomer,    // customer_key, part 0
  kNewOrderText,   // payload of the order, complete
  kNewNumberText,  // blank payload of new_order and order_by_customer
  kNewLineText,    // blank payload of a line
  kNewByCustomer,  // order_by_customer_key for order 0
  kNewDistAt,      // dist_at
  kNewLines,       // how many follow
  kNewUnused,      // its number; 0: all items are there
  kNewParameters
};
enum NewOrderLineParameter : uint32_t {
  kLineItemNumber,
  kLineStock,     // stock_key, part 0
  kLineDistPart,  // stock_key of the part with S_DIST of the district
  kLineOrdered,   // quantity
  kLineRemote,    // 1: from another warehouse
  kLineSupplier,  // warehouse
  kLineParameters
};

// Which customer: 0 stands for the one in the middle of those whose names are in [from, end).
struct CustomerParameters {
  int64_t district = 0, customer = 0, from = 0, end = 0;
};

enum PaymentParameter : uint32_t {
  kPayWarehouse,
  kPayDistrict,  // district_key
  kPayAmount,
  kPayCustomerDistrict,  // CustomerParameters
  kPayCustomer,
  kPayFrom,
  kPayEnd,
  kPayHistory,      // history_key
  kPayHistoryText,  // blank, with the dots between the names
  kPayHeadText,     // blank head of C_DATA
  kPayDate,
  kPayToWarehouse,  // the same as fields
  kPayToDistrict,
  kPayOfWarehouse,
  kPayOfDistrict,
  kPayParameters
};

enum DeliveryParameter : uint32_t {
  kDeliverWarehouse,  // district_key(w, 0)
  kDeliverCarrier,
  kDeliverDate,
  kDeliverParameters
};

enum StockLevelParameter : uint32_t {
  kLevelDistrict,   // district_key
  kLevelWarehouse,  // stock_key(w, 0, 0) without the part's bits
  kLevelThreshold,
  kLevelParameters
};

inline constexpr std::string_view kBadCredit = "BC";
inline constexpr int32_t kOrdersLooked = 20;  // by StockLevel

// Adds all five; their numbers are those of Transaction.
void add_procedures(ScriptBuilder& script);

}  // namespace keydrome::tpcc
